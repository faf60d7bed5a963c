/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * PI: a proportional-integral controller that steers the queue to q_ref.
 * The law, its sources and its parameters: crates/aqm/src/aqm/pi.rs.
 *
 * Departures: p is rounded to 2^-56, the gains to 2^-52 and lengths to 2^-32. Updates are performed at the first event
 * after their time, and those without events between them at once.
 */
#include "aqm.h"

#define NAME "pi"
#define LAW_PERIOD period
#define PARAMS(X) X(q_ref, 32) X(a, 52) X(b, 52) X(period, 0) X(bytes, 0) X(by_size, 0) X(mean_packet, 0) X(ecn, 0)
#define SIGNALS(X) X(p, 56)

struct params { PARAMS(AQM_FIELD) };

struct state {
    SIGNALS(AQM_FIELD)
    s64 q_old; /* Q 32 */
};

static void start(struct state *s, const struct params *k) {}

static enum verdict on_enqueue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u32 random)
{
    u64 p = (u64)s->p >> 24;
    if (k->by_size)
        p = p * packet->size / (u64)k->mean_packet;
    return !queue->full && happens(p, random) ? signal(k->ecn && packet->ect) : PASS;
}

static void on_period(struct state *s, const struct params *k, u64 now, const struct backlog *queue, u64 n)
{
    s64 q = length(queue, k->bytes, k->mean_packet), up = scale(q - k->q_ref, k->a, 28);
    s->p = clip(s->p + up - scale(s->q_old - k->q_ref, k->b, 28), 0, ONE(56));
    s->p = clip(s->p + scale(up - scale(q - k->q_ref, k->b, 28), n - 1, 0), 0, ONE(56));
    s->q_old = q;
}

#include "host.h"
