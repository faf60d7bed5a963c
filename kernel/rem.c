/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * REM: drops with a probability that grows exponentially with a price, which rises while demand exceeds supply.
 * The law, its sources and its parameters: crates/aqm/src/aqm/rem.rs.
 *
 * Departures: the price is rounded to 2^-40 and is at most 2^21; p, lengths and the smoothed arrivals are rounded to
 * 2^-32, and gamma, alpha, inw and log2 phi to 2^-48. p is 1 - 2^(-u log2 phi), of a product rounded to 2^-32. Updates
 * are performed at the first event after their time, and those without events between them at once: the price then
 * moves by their sum.
 */
#include "aqm.h"

#define NAME "rem"
#define LAW_PERIOD interval
#define LAW_DEQUEUES
#define PARAMS(X) \
    X(b_star, 32) X(log2_phi, 48) X(gamma, 48, 8192) X(alpha, 48) X(interval, 0) X(form, 0) X(inw, 48) X(bytes, 0) \
    X(by_size, 0) X(mean_packet, 0) X(ecn, 0) X(c, 32)
#define SIGNALS(X) X(p, 32) X(price, 40)

enum form { PAPER, NS2 };

struct params { PARAMS(AQM_FIELD) };

struct state {
    SIGNALS(AQM_FIELD)
    s64 q_old; /* Q 32 */
    s64 input; /* Q 32 */
    struct backlog arrived; /* in this interval */
};

static void start(struct state *s, const struct params *k) {}

/* Under ECN, the rate form decides when a packet leaves. */
INLINE bool decides_late(const struct params *k) { return k->ecn && k->form == NS2; }

INLINE bool chosen(const struct state *s, const struct params *k, const struct packet *packet, u32 random)
{
    return happens(k->by_size ? (u64)s->p * packet->size / (u64)k->mean_packet : (u64)s->p, random);
}

static enum verdict on_enqueue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u32 random)
{
    s->arrived.packets++;
    s->arrived.bytes += packet->size;
    if (queue->full || decides_late(k) || !chosen(s, k, packet, random))
        return PASS;
    return signal(k->ecn && packet->ect);
}

static enum verdict on_dequeue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u64 sojourn, u32 random)
{
    return decides_late(k) && packet->ect && chosen(s, k, packet, random) ? MARK : PASS;
}

/* Moves the price by an excess of demand, n times. */
INLINE void move(struct state *s, const struct params *k, s64 excess, u64 n)
{
    s->price = clip(s->price + scale(scale(excess, k->gamma, 40), n, 0), 0, ONE(61));
}

static void on_period(struct state *s, const struct params *k, u64 now, const struct backlog *queue, u64 n)
{
    s64 q = length(queue, k->bytes, k->mean_packet), error = scale(q - k->b_star, k->alpha, 48);
    if (k->form == PAPER) {
        move(s, k, q - s->q_old + scale(s->q_old - k->b_star, k->alpha, 48), 1);
        move(s, k, error, n - 1);
    } else {
        u64 left, sum;
        s->input += scale(length(&s->arrived, k->bytes, k->mean_packet) - s->input, k->inw, 48);
        move(s, k, s->input + error - k->c, 1);
        /* Without arrivals, (1 - inw)^i of the input is left after i more: of a geometric series the sum. */
        left = mul_shift(s->input, power((ONE(48) - k->inw) << 14, n - 1), 62);
        sum = div_shift(mul_shift(s->input - left, ONE(48) - k->inw, 48), k->inw, 48);
        move(s, k, (s64)least(sum, ONE(61)) + scale(error - k->c, n - 1, 0), 1);
        s->input = left;
    }
    s->q_old = q;
    s->arrived = (struct backlog){};
    s->p = ONE(32) - mul_exp2(ONE(32), -scale(s->price, k->log2_phi, 56));
}

#include "host.h"
