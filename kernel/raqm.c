/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * RAQM: adjusts the drop probability exponentially until the arrival rate is the expected one.
 * The law, its sources and its parameters: crates/aqm/src/aqm/raqm.rs.
 *
 * Departures: rates are fractions of the link's and rounded to 2^-40, p(k) and p to 2^-60, and the exponent of e to
 * 2^-32. Near r0, alpha^ is the first terms of its series. Updates are performed at the first event after their time.
 * Of more than 32 without an event between them, the rest are one, in which p(k) falls as much as at the last rate in
 * each. There is one class of service: no `shares`, no `weights`.
 */
#include "aqm.h"

#define NAME "raqm"
#define LAW_PERIOD period
/* `work` is the bytes that the link sends in a period, `share` is gamma. */
#define PARAMS(X) \
    X(mode, 0) X(q0, 32) X(period, 0) X(f, 48) X(r0, 0) X(counts, 0) X(fed, 0) X(alpha, 0) X(m, 40) X(eps, 40) \
    X(lagged, 0) X(p, 60) X(p_min, 60) X(bytes, 0) X(mean_packet, 0) X(ecn, 0) X(work, 16) X(share, 40)
#define SIGNALS(X) X(p, 60) X(r, 40) X(p_1, 60)
#define SINGLY 32

enum mode { QUEUE, RATE };
enum r0 { LITERAL, CORRECTED };
enum counted { ALL, UNSHED, ACCEPTED };
enum fed { LAST, MEAN };
enum alpha { ADAPTIVE, STATIC };

struct params { PARAMS(AQM_FIELD) };

struct state {
    SIGNALS(AQM_FIELD)
    u64 slope; /* p(k) / q0, Q 60 */
    u64 arrived, dropped; /* bytes of this period that count, and those of them that were dropped early */
    u64 seen; /* its arrivals */
    u64 applied, applied_rest; /* the sum of their drop probabilities, and what that lacks, Q 60 */
    s64 loss; /* as r, of what was dropped early, Q 40 */
    u64 bounded; /* eps times the bound at the last update, Q 40 */
    bool has_bounded;
};

static void set(struct state *s, const struct params *k, u64 p)
{
    s->p_1 = clip(least(p, ONE(60)), most(k->p_min, 1), ONE(60));
    s->slope = div_shift(s->p_1, k->q0, 32);
}

static void start(struct state *s, const struct params *k) { set(s, k, k->p); }

static enum verdict on_enqueue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u32 random)
{
    enum verdict verdict = PASS;
    s->p = s->p_1;
    if (k->mode == QUEUE)
        s->p = least(mul_shift(s->slope, length(queue, k->bytes, k->mean_packet), 32), ONE(60));
    if (!queue->full && happens((u64)s->p >> 28, random))
        verdict = signal(k->ecn && packet->ect);
    if (k->counts == ALL || (verdict != DROP && (k->counts == UNSHED || !queue->full))) {
        s->arrived += packet->size;
        s->dropped += verdict == DROP ? packet->size : 0;
    }
    s->seen++;
    s->applied_rest += s->p;
    s->applied += s->applied_rest >> 60;
    s->applied_rest &= ONE(60) - 1;
    return verdict;
}

/* alpha^ r0 at r = x r0, x a Q 40, as a Q 40: the bound of stability, from 4 to 20. */
static u64 bound(s64 x)
{
    s64 d = x - ONE(40);
    u64 square, distance = d < 0 ? -d : d;
    if (x <= 0 || x >= (s64)ONE(41))
        return 4 * ONE(40);
    square = mul_shift(distance, distance, 40);
    if (distance < ONE(34)) /* 4 (1 + d^2 / 3 + d^4 / 5 + d^6 / 7) */
        return 4 * (ONE(40) + square / 3 + mul_shift(square, square, 40) / 5 +
                    mul_shift(mul_shift(square, square, 40), square, 40) / 7);
    d = log2_q32(ONE(40) + distance) - log2_q32(ONE(40) - distance);
    return least(div_shift(mul_shift(d, 2 * LN_2_Q62, 54), distance, 40), 20 * ONE(40));
}

/* The exponent of the next p(k) over p(k-1), Q 32. */
static s64 exponent(struct state *s, const struct params *k)
{
    s64 counted = k->r0 == CORRECTED ? clip(s->r - s->loss, 0, ONE(61)) : s->r;
    s64 x = least(div_shift(counted, k->share, 40), ONE(60));
    u64 bounded = mul_shift(bound(x), k->eps, 40), m = bounded;
    if (k->alpha == STATIC || !s->has_bounded)
        m = k->m;
    else if (k->lagged)
        m = s->bounded;
    s->bounded = bounded;
    s->has_bounded = true;
    return clip(scale(x - ONE(40), m, 48), -ONE(40), 50 * ONE(32));
}

/* The smoothed rate after a period in which `bytes` came. */
INLINE s64 smooth(const struct params *k, s64 old, u64 bytes)
{
    s64 latest = least(div_shift(bytes, k->work, 56), ONE(60));
    return latest + scale(old - latest, k->f, 48);
}

static void on_period(struct state *s, const struct params *k, u64 now, const struct backlog *queue, u64 n)
{
    u64 last = s->p_1;
    if (k->fed == MEAN && s->seen)
        last = div_shift(s->applied, s->seen, 60) + s->applied_rest / s->seen;
    for (int i = 0; i < SINGLY && n; i++, n--) {
        s->r = smooth(k, s->r, s->arrived);
        s->loss = smooth(k, s->loss, s->dropped);
        s->arrived = s->dropped = 0;
        set(s, k, mul_exp2(last, scale(exponent(s, k), LOG2_E_Q32, 32)));
        last = s->p_1;
    }
    s->seen = s->applied = s->applied_rest = 0;
    if (!n)
        return;
    s->r = mul_shift(s->r, power((u64)k->f << 14, n), 62);
    s->loss = mul_shift(s->loss, power((u64)k->f << 14, n), 62);
    set(s, k, mul_exp2(last, clip(scale(scale(exponent(s, k), LOG2_E_Q32, 32), n, 0), -ONE(40), ONE(40))));
}

#include "host.h"
