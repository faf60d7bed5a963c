/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * RED, for itself and for what is built on it: a law defines PARAMS and SIGNALS, which begin with RED_PARAMS and
 * RED_SIGNALS, and then includes this. The law, its sources and its parameters: crates/aqm/src/aqm/red.rs.
 *
 * Departures: the average is rounded to 2^-40, and a queue counts as at most 2^21 packets; probabilities and the
 * weight are rounded to 2^-60. Rounding also decides where count p_b is a whole number or p_b is `mark_p`. That the
 * link has become idle is known at the next arrival, and counts from when it did. The form is "ns2".
 */
#include "aqm.h"

#define RED_PARAMS(X) \
    X(min_th, 40, 2097152) X(max_th, 40, 2097152) X(max_p, 60) X(w_q, 60) X(gentle, 0) X(spacing, 0) X(bytes, 0) \
    X(by_size, 0) X(mean_packet, 0) X(c, 20) X(ages, 0) X(ecn, 0) X(mark_p, 60) X(hard_drop, 0) X(nodrop, 0) \
    X(spare_first, 0)
#define RED_SIGNALS(X) X(p, 60) X(avg, 40)
#define LAW_IDLES
/* What else a law keeps. */
#ifndef RED_STATE
#define RED_STATE
#endif
/* Adaptive RED moves it. */
#ifndef MAX_P
#define MAX_P k->max_p
#endif

enum spacing { UNIFORM, WAIT, NONE };

struct params { PARAMS(AQM_FIELD) };

struct state {
    SIGNALS(AQM_FIELD)
    u64 per_range; /* 1 / (max_th - min_th), Q 56 */
    u64 per_max; /* 1 / max_th, Q 56 */
    u64 gentle_p; /* the p_b at which the gentle part starts, Q 60 */
    u64 since_drop; /* packets, or bytes, since the last drop */
    u64 idle_since;
    u64 moved; /* when Adaptive RED moved max_p */
    bool is_idle;
    bool above; /* the average was above min_th at the last arrival */
    RED_STATE
};

INLINE void red_start(struct state *s, const struct params *k, u64 gentle_p)
{
    s->per_range = div_shift(ONE(60), k->max_th - k->min_th, 36);
    s->per_max = div_shift(ONE(60), k->max_th, 36);
    s->gentle_p = least(gentle_p, ONE(60));
}

/* The average after the link has been idle until `now`: it loses w_q with each packet that could have been sent. */
static s64 aged(const struct state *s, const struct params *k, u64 now)
{
    u64 packets;
    if (!s->is_idle)
        return s->avg;
    packets = mul_shift(now - s->idle_since, k->c, 20) / 1000000000;
    return mul_shift(s->avg, power((ONE(60) - k->w_q) << 2, packets), 62);
}

/* Updates the average by the queue that an arrival finds. */
static void estimate(struct state *s, const struct params *k, u64 now, const struct backlog *queue)
{
    s64 q = least(length(queue, k->bytes, k->mean_packet), ONE(53)) << 8;
    s64 avg = k->w_q == ONE(60) ? s->avg : aged(s, k, now);
    /* A packet that finds no room leaves the link, or the queue of RED+Tail, idle. */
    s->is_idle = s->is_idle && queue->full;
    s->idle_since = now;
    s->avg = avg + scale(q - avg, k->w_q, 60);
}

/* The curve between the thresholds, at a `part` of their distance. */
INLINE u64 curve(u64 max_p, u64 part)
{
#ifdef QUADRATIC
    return least(mul_shift(mul_shift(part, part, 60), 3 * max_p, 61), ONE(60));
#else
    return mul_shift(part, max_p, 60);
#endif
}

static u64 chance(const struct state *s, const struct params *k)
{
    u64 part;
    if (s->avg < k->min_th)
        return 0;
    if (s->avg < k->max_th)
        return curve(MAX_P, mul_shift(s->avg - k->min_th, s->per_range, 36));
    if (!k->gentle)
        return ONE(60);
    part = mul_shift(s->avg - k->max_th, s->per_max, 36);
    return least(s->gentle_p + mul_shift(ONE(60) - s->gentle_p, part, 60), ONE(60));
}

/* Whether random < p_a, which is p_b over 1 - count p_b or 2 - count p_b, by size. */
static bool chosen(const struct state *s, const struct params *k, const struct packet *packet, u32 random)
{
    u64 over = ONE(60), count = k->by_size ? s->since_drop / (u64)k->mean_packet : s->since_drop;
    u64 expected = mul_shift(count, s->p, 0), drawn;
    if (k->spacing != NONE) {
        if (k->spacing == WAIT && expected < ONE(60))
            return false;
        over = k->spacing == WAIT ? ONE(61) : ONE(60);
        if (expected >= over)
            return true;
        over -= expected;
    }
    if ((u64)s->p >= over)
        return true;
    drawn = mul_shift(over, random, 32);
    if (!k->by_size)
        return drawn < (u64)s->p;
    return mul_shift(drawn, k->mean_packet, 16) < mul_shift(s->p, packet->size, 16);
}

INLINE enum verdict red_signal(const struct params *k, const struct packet *packet, bool marks)
{
    if (!marks)
        return DROP;
    return packet->ect ? MARK : k->nodrop ? PASS : DROP;
}

/* The verdict on the arrival, by the present average. */
static enum verdict decide(struct state *s, const struct params *k, const struct packet *packet,
                           const struct backlog *queue, u32 random)
{
    u64 size = k->by_size ? packet->size : 1;
    bool was_above = s->above;
    s->since_drop += size;
    s->above = s->avg >= k->min_th && (k->bytes ? queue->bytes : queue->packets) > 1;
    s->p = s->above ? chance(s, k) : 0;
    if (!s->above)
        return PASS;
    if (queue->full) {
        s->since_drop = 0;
        return PASS;
    }
    if (!was_above && ((k->spare_first && k->hard_drop) || s->p < (s64)ONE(60))) {
        s->since_drop = size;
        return PASS;
    }
    if (!chosen(s, k, packet, random))
        return PASS;
    s->since_drop = 0;
    return red_signal(k, packet, k->ecn && (!k->hard_drop || s->p < k->mark_p));
}

static void red_idle(struct state *s, const struct params *k, u64 now)
{
    s->is_idle = k->ages;
    s->idle_since = now;
}
