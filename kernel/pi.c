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

/* The last 64 binary digits of a distance, Q 32, times a gain, Q 52, as a Q 56. */
INLINE u64 product(s64 distance, s64 gain)
{
    u64 rest = (u32)distance;
    return ((u64)(distance >> 32) * gain << 4) + (rest * (u64)(gain >> 32) << 4) + (rest * (u32)gain >> 28);
}

/*
 * The change of p, from -2 to 2, when the queue's distance from q_ref becomes `d` from `old`. Each product may be 2^40
 * where their difference is small: this is roughly known from both as Q 21, and exactly from their last digits.
 */
static s64 change(const struct params *k, s64 d, s64 old)
{
    /* A design that samples slowly has a negative b. */
    s64 about = scale(d, k->a, 63) - scale(k->b < 0 ? -old : old, k->b < 0 ? -k->b : k->b, 63);
    if (about <= -(s64)ONE(22) || about >= (s64)ONE(22))
        return about < 0 ? -(s64)ONE(57) : (s64)ONE(57);
    return product(d, k->a) - product(old, k->b);
}

static void on_period(struct state *s, const struct params *k, u64 now, const struct backlog *queue, u64 n)
{
    s64 q = length(queue, k->bytes, k->mean_packet), d = q - k->q_ref;
    s->p = clip(s->p + change(k, d, s->q_old - k->q_ref), 0, ONE(56));
    s->p = clip(s->p + scale(change(k, d, d), n - 1, 0), 0, ONE(56));
    s->q_old = q;
}

#include "host.h"
