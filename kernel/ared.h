/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Adaptive RED, for itself and for RED+Tail: RED that adjusts max_p so that the average queue stays half-way between the
 * thresholds.
 * The law, its sources and its parameters: crates/aqm/src/aqm/ared.rs.
 *
 * Departures: those of red.h. The timer's updates are performed at the first event after their time. Of more than 32
 * without an event between them, the rest are one, which lowers max_p as much, or raises it by one step. With `moves`
 * = "arrival", the first move may come at the first arrival.
 */
#ifndef AQM_ARED_H
#define AQM_ARED_H

/* `timer` is `interval`, or 0 if max_p moves at arrivals. */
#define LAW_PERIOD timer
#define ARED_PARAMS(X) \
    RED_PARAMS(X) X(timer, 0) X(interval, 0) X(alpha, 60) X(beta, 60) X(top, 60) X(bottom, 60) X(frozen_gentle, 0)
#define ARED_SIGNALS(X) RED_SIGNALS(X) X(max_p, 60)
#define SINGLY 32
#define MAX_P s->max_p
#include "red.h"

/* Moves max_p, unless the average is in the middle fifth; falls by `factor`. */
static bool adapt(struct state *s, const struct params *k, s64 avg, u64 factor)
{
    s64 part = 2 * (u64)(k->max_th - k->min_th) / 5, before = s->max_p;
    if (avg > k->max_th - part && s->max_p < k->top)
        s->max_p = least(s->max_p + least(k->alpha, (u64)s->max_p / 4), k->top);
    else if (avg < k->min_th + part && s->max_p > k->bottom)
        s->max_p = most(mul_shift(s->max_p, factor, 60), k->bottom);
    if (!k->frozen_gentle)
        s->gentle_p = s->max_p;
    return s->max_p != before;
}

static void ared_start(struct state *s, const struct params *k)
{
    s->max_p = k->max_p;
    red_start(s, k, k->max_p);
}

static enum verdict ared_enqueue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                                 const struct backlog *queue, u32 random)
{
    estimate(s, k, now, queue);
    if (!k->timer && now > s->moved + k->interval && adapt(s, k, s->avg, k->beta))
        s->moved = now;
    return decide(s, k, packet, queue, random);
}

static void ared_period(struct state *s, const struct params *k, u64 now, u64 n)
{
    for (int i = 0; i < SINGLY && n; i++, n--)
        adapt(s, k, aged(s, k, now - (n - 1) * k->timer), k->beta);
    if (n)
        adapt(s, k, aged(s, k, now), power((u64)k->beta << 2, n) >> 2);
}

#endif
