/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * LRED: drops with the recently measured loss ratio, corrected in proportion to the queue's distance from q0.
 * The law, its sources and its parameters: crates/aqm/src/aqm/lred.rs.
 *
 * Departures: p and the queue's length are rounded to 2^-32, L and beta L^e to 2^-48, and sqrt(L) to 2^-31. L is
 * updated at the first event after a period's end, and periods without events at once. There is one class of service:
 * no `weights`.
 */
#include "aqm.h"

#define NAME "lred"
#define LAW_PERIOD period
#define PARAMS(X) \
    X(q0, 32) X(beta, 48) X(exponent, 32) X(period, 0) X(window, 0, 64) X(weight, 48) X(bytes, 0) X(mean_packet, 0) \
    X(ecn, 0) X(l_min, 48)
#define SIGNALS(X) X(p, 32) X(loss_ratio, 48)
#define WINDOW 64

struct params { PARAMS(AQM_FIELD) };

struct tally {
    u64 arrivals, drops;
};

struct state {
    SIGNALS(AQM_FIELD)
    u64 gain; /* beta L^e in Q 48 */
    u64 arrivals, drops; /* of the window */
    u64 oldest;
    struct tally now;
    struct tally past[WINDOW];
};

static void measure(struct state *s, const struct params *k, u64 loss_ratio)
{
    s->loss_ratio = most(loss_ratio, k->l_min);
    if (k->exponent == 0)
        s->gain = k->beta;
    else if (s->loss_ratio == 0)
        s->gain = 0;
    else if (k->exponent == ONE(31))
        s->gain = mul_shift(k->beta, root((u64)s->loss_ratio << 14), 31);
    else
        s->gain = mul_exp2(k->beta, scale(log2_q32(s->loss_ratio) - 16 * (s64)ONE(32), k->exponent, 32));
}

static void start(struct state *s, const struct params *k) { measure(s, k, 0); }

static enum verdict on_enqueue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u32 random)
{
    s64 distance = length(queue, k->bytes, k->mean_packet) - k->q0;
    u64 p;
    s->now.arrivals++;
    s->p = clip((s->loss_ratio >> 16) + scale(distance, s->gain, 48), 0, ONE(32));
    if (queue->full) {
        s->now.drops++;
        return PASS;
    }
    p = k->bytes ? (u64)s->p * packet->size / k->mean_packet : (u64)s->p;
    if (!happens(p, random))
        return PASS;
    s->now.drops++;
    return signal(k->ecn && packet->ect);
}

static void on_period(struct state *s, const struct params *k, u64 now, const struct backlog *queue, u64 n)
{
    for (int i = 0; i < WINDOW && n; i++, n--) {
        u64 latest;
        struct tally *oldest;
        if (s->oldest >= WINDOW)
            return;
        oldest = &s->past[s->oldest];
        s->arrivals = s->arrivals + s->now.arrivals - oldest->arrivals;
        s->drops = s->drops + s->now.drops - oldest->drops;
        *oldest = s->now;
        s->now = (struct tally){};
        if (++s->oldest >= (u64)k->window)
            s->oldest = 0;
        if (!s->arrivals)
            continue;
        latest = least(div_shift(s->drops, s->arrivals, 32), ONE(32)) << 16;
        measure(s, k, mul_shift(k->weight, s->loss_ratio, 48) + mul_shift(ONE(48) - k->weight, latest, 48));
    }
}

#include "host.h"
