/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * JoBS: schedules and drops four classes of service to meet bounds on delay, rate and loss, absolute or relative.
 * The law, its sources and its parameters: crates/aqm/src/aqm/jobs.rs.
 *
 * Departures: rates are rounded to 2^-20 bit/s, the service of a class to 2^-30 bits, time in products to 2^-60 s, and
 * weights, in units of the largest, and losses to 2^-60. Longer times than 4.29 s, such as that for which a packet has
 * waited, count as 4.29 s, and the link has at most 274 Gbit/s. The load is that of the sums of sizes and gaps, without
 * rounding. Where a loss is exactly at its bound, rounding decides, here and there. An arrival that is dropped to
 * meet a delay is first reported as queued. Only the form "paper" is here.
 */
#define NAME "jobs"
#define LAW_LANES 4
#define LAW_EVICTS k->drop_front
#define LAW_DEQUEUES
#define LAW_IDLES
#define LAW_BEGINS_IDLE
#define N 4
#define EACH(X, name, ...) \
    X(name##1, __VA_ARGS__) X(name##2, __VA_ARGS__) X(name##3, __VA_ARGS__) X(name##4, __VA_ARGS__)
#define LONGEST 4294967295 /* ns */
#define PARAMS(X) \
    EACH(X, delay_, 0, LONGEST) EACH(X, rate_, 20) EACH(X, loss_, 60) EACH(X, delay_weight_, 60) \
    EACH(X, loss_weight_, 60) X(link, 20, 274877906943) X(step, 0) X(sampling, 0) X(drop_front, 0) X(relief, 0)
#define SIGNALS(X) EACH(X, r, 20) EACH(X, l, 60)

#include "aqm.h"

enum { OWN_CLASS, SHARED }; /* relief */

struct params {
    union {
        struct { PARAMS(AQM_FIELD) };
        /* 0 for no bound or no part in the relation; a loss above 1 for no bound. */
        struct { s64 delay[N], min[N], most_lost[N], delay_weight[N], loss_weight[N]; };
    };
};

/* Amounts are in bits. */
struct state {
    union {
        struct { SIGNALS(AQM_FIELD) };
        struct { s64 rate[N], loss[N]; };
    };
    u64 arrived[N], entered[N]; /* A and R */
    s64 behind[N]; /* S - s, Q 30, beside that of the class that was served last */
    s64 min_rate[N]; /* m, Q 20 */
    u64 counted; /* the time up to which S is counted */
    bool idle; /* the link has been */
    u32 arriving; /* 1 + the class of an arrival that is counted but not yet decided, and its bytes */
    u32 size;
    u64 arrivals;
    u64 last, end, sizes, gaps; /* the load: the last arrival, the window's end, and sums since it began */
    /* Drops in progress: whether a deadline is out of reach, the time to it, Q 60, and what is still to be dropped. */
    bool shedding;
    bool late[N];
    u64 left[N];
    s64 excess; /* Q 20 */
    s64 part[N]; /* of a computation: the verifier would follow each number on the stack */
};

/* What the law is given of the queue. */
struct lanes {
    struct backlog whole, of[N];
};

#define NO_RATE 1049 /* 1e-3 bit/s: rates that differ by less are equal */
#define NO_TIME 115292150 /* 1e-10 s, which a late class has */
#define LARGEST ((s64)ONE(61))
#define WINDOW 500000000ULL /* ns */

/* Seconds, Q 60. */
INLINE u64 seconds(u64 ns) { return mul_shift(least(ns, LONGEST), 9903520314283042199ULL, 33); }

/* The rate, Q 20, at which `bits` are sent in a time, Q 60. */
INLINE s64 over(u64 bits, u64 time) { return least(div_shift(least(bits, ONE(46)) << 17, time, 63), LARGEST); }

/* The bits, Q 20, that are sent in a time, Q 60; rounded to the nearest, so that whole numbers of bits remain whole. */
INLINE s64 sent(u64 time, s64 rate) { return (scale(rate, time, 59) + 1) >> 1; }

INLINE s64 lower(s64 a, s64 b) { return a < b ? a : b; }

INLINE u64 bits(u64 bytes) { return 8 * bytes; }

/* Counts the bits that have become due for the waiting classes. */
static void elapse(struct state *s, u64 now, const struct lanes *lanes)
{
    u64 time = seconds(now - s->counted);
    for (u32 i = 0; i < N; i++)
        if (lanes->of[i].packets)
            s->behind[i] = clip(s->behind[i] + scale(s->rate[i], time, 50), -LARGEST, LARGEST);
    s->counted = now;
}

/* Counts an arrival, before the decision, unless that has been done; returns its class. */
GLOBAL u32 arrive(struct state *s GIVEN, u64 now, u32 own, u32 size, const struct lanes *lanes GIVEN)
{
    own %= N;
    if (s->arriving)
        return own;
    s->arriving = 1 + own;
    s->size = size;
    if (now >= s->end) {
        s->end = now + WINDOW;
        s->sizes = s->gaps = 0;
    }
    s->sizes += bits(size);
    s->gaps += now - s->last;
    s->last = now;
    if (s->idle) {
        s->idle = false;
        s->counted = now;
        for (u32 i = 0; i < N; i++)
            s->arrived[i] = s->entered[i] = s->behind[i] = s->loss[i] = 0;
    }
    s->arrived[own] += bits(size);
    s->entered[own] += bits(size);
    s->loss[own] = div_shift(s->arrived[own] - s->entered[own], s->arrived[own], 60);
    elapse(s, now, lanes);
    return own;
}

/* Whether a class has a packet to lose, including the arrival, which is not in its lane yet. */
INLINE bool has_packet(const struct state *s, const struct lanes *lanes, u32 i)
{
    return lanes->of[i].packets || s->arriving == 1 + i;
}

/* Whether it is the arrival that the class would lose. */
INLINE bool loses_arrival(const struct state *s, const struct params *k, const struct lanes *lanes, u32 i)
{
    return s->arriving == 1 + i && !(k->drop_front && lanes->of[i].packets);
}

/* The bits of the packet that the class would lose. */
INLINE u64 victim(const struct state *s, const struct params *k, const struct lanes *lanes, u32 i)
{
    if (loses_arrival(s, k, lanes, i))
        return bits(s->size);
    return bits(k->drop_front ? lanes->of[i].first : lanes->of[i].last);
}

INLINE bool is_bounded(const struct params *k, u32 i) { return k->most_lost[i] <= (s64)ONE(60); }

INLINE bool may_lose(const struct state *s, const struct params *k, u32 i, u64 lost)
{
    return !is_bounded(k, i) || s->arrived[i] - s->entered[i] + lost <= mul_shift(s->arrived[i], k->most_lost[i], 60);
}

INLINE void lose(struct state *s, u32 i, u64 lost)
{
    s->entered[i] -= lost;
    s->loss[i] = div_shift(s->arrived[i] - s->entered[i], s->arrived[i], 60);
}

/* The class that is next to lose a packet, among those that wait: N for none. */
GLOBAL u32 next_to_lose(const struct state *s GIVEN, const struct params *k GIVEN, const struct lanes *lanes GIVEN)
{
    s64 sum = 0, count = 0, lowest = 0, largest = 0;
    u32 chosen = N;
    for (u32 i = 0; i < N; i++)
        if (k->loss_weight[i] && has_packet(s, lanes, i)) {
            sum += mul_shift(k->loss_weight[i], s->loss[i], 62);
            count++;
        }
    for (u32 i = 0; i < N; i++) {
        s64 beyond = count * (s64)mul_shift(k->loss_weight[i], s->loss[i], 62) - sum;
        if (k->loss_weight[i] && has_packet(s, lanes, i) && beyond <= lowest) {
            lowest = beyond;
            chosen = i;
        }
    }
    if (chosen < N && may_lose(s, k, chosen, victim(s, k, lanes, chosen)))
        return chosen;
    chosen = N;
    for (u32 i = 0; i < N; i++) {
        s64 margin = is_bounded(k, i) ? k->most_lost[i] - s->loss[i] : LARGEST;
        if (has_packet(s, lanes, i) && (chosen == N || margin >= largest)) {
            largest = margin;
            chosen = i;
        }
    }
    return chosen;
}

/* The class whose packet is dropped next so that the others meet their delays. */
GLOBAL u32 next_to_shed(struct state *s GIVEN, const struct params *k GIVEN, const struct lanes *lanes GIVEN)
{
    if (k->relief == SHARED) {
        u32 i = s->excess > 0 ? next_to_lose(s, k, lanes) : N;
        u64 lost;
        if (i >= N)
            return N;
        lost = victim(s, k, lanes, i);
        s->excess -= lost << 20;
        return may_lose(s, k, i, lost) ? i : N;
    }
    for (u32 i = 0; i < N; i++) {
        if (!s->late[i] || !lanes->of[i].packets || (s64)bits(lanes->of[i].bytes) << 20 <= sent(s->left[i], s->rate[i]))
            continue;
        if (may_lose(s, k, i, victim(s, k, lanes, i)))
            return i;
        s->late[i] = false; /* it may lose no more */
    }
    return N;
}

/* Divides the link anew if a class has begun or ceased to wait. */
INLINE void share(struct state *s, const struct params *k, const struct lanes *lanes)
{
    u32 waiting = 0;
    bool stale = false;
    for (u32 i = 0; i < N; i++) {
        waiting += lanes->of[i].packets > 0;
        stale |= (lanes->of[i].packets > 0) == (s->rate[i] <= NO_RATE);
    }
    if (stale)
        for (u32 i = 0; i < N; i++)
            s->rate[i] = lanes->of[i].packets ? (u64)k->link / waiting : 0;
}

/* The time to the deadline of a class with a bound on its delay, and with a packet; 0 if it has passed. */
INLINE u64 left(const struct params *k, u64 now, const struct backlog *own, u32 i)
{
    u64 waited = now - own->since;
    return waited < (u64)k->delay[i] ? seconds(k->delay[i] - waited) : 0;
}

/* Divides the link, and computes the minimum rates; returns whether every class has its own. */
GLOBAL bool has_min_rates(struct state *s GIVEN, const struct params *k GIVEN, u64 now, const struct lanes *lanes GIVEN)
{
    bool enough = true;
    share(s, k, lanes);
    for (u32 i = 0; i < N; i++) {
        const struct backlog *own = &lanes->of[i];
        s->min_rate[i] = 0;
        if (!own->packets)
            continue;
        s->min_rate[i] = k->min[i];
        if (k->delay[i])
            s->min_rate[i] = most(s->min_rate[i], over(bits(own->bytes), left(k, now, own, i)));
        enough &= s->min_rate[i] <= s->rate[i] + NO_RATE;
    }
    return enough;
}

/* Moves rates to the classes that lack them; returns how many bits, Q 20, are then to be dropped. */
GLOBAL s64 assign(struct state *s GIVEN, const struct params *k GIVEN, u64 now, const struct lanes *lanes GIVEN)
{
    s64 *spare = s->part, excess = 0;
    for (u32 i = 0; i < N; i++) {
        const struct backlog *own = &lanes->of[i];
        spare[i] = s->rate[i];
        if (!own->packets)
            continue;
        if (k->delay[i]) {
            s->left[i] = most(left(k, now, own, i), NO_TIME);
            spare[i] -= over(bits(own->bytes), s->left[i]);
        }
        if (k->min[i])
            spare[i] = lower(spare[i], s->rate[i] - k->min[i]);
    }
    /* Each time, a class ceases to lack or to spare. */
    for (u32 n = 0; n < N; n++) {
        u32 from = N, to = N;
        s64 moved;
        for (u32 i = 0; i < N; i++) {
            if (spare[i] > 0)
                from = i;
            if (spare[N - 1 - i] < -NO_RATE)
                to = N - 1 - i;
        }
        if (from >= N || to >= N)
            break;
        moved = lower(spare[from], -spare[to]);
        s->rate[from] -= moved;
        s->rate[to] += moved;
        spare[from] -= moved;
        spare[to] += moved;
    }
    for (u32 i = 0; i < N; i++) {
        if (!lanes->of[i].packets)
            s->rate[i] = 0;
        s->late[i] = spare[i] < -NO_RATE && k->delay[i] && lanes->of[i].packets;
        if (s->late[i])
            excess += ((s64)bits(lanes->of[i].bytes) << 20) - sent(s->left[i], s->rate[i]);
    }
    return excess;
}

/* Sets the minimum rates after packets have been dropped. */
INLINE void settle(struct state *s, const struct params *k, const struct lanes *lanes)
{
    for (u32 i = 0; i < N; i++) {
        s->min_rate[i] = lanes->of[i].packets && (k->delay[i] || k->min[i]) ? s->rate[i] : 0;
        if (s->min_rate[i] && !k->min[i])
            s->min_rate[i] = lower(s->min_rate[i], over(bits(lanes->of[i].bytes), s->left[i]));
    }
}

/* 2 K / C' over the number of related classes, Q 40: the part of C' that moves for each second of e. */
INLINE u64 gain(const struct state *s, const struct params *k, u64 upper, u64 count)
{
    u64 load = ONE(40), gain = div_shift(upper, k->step, 21), entered = 0, part = ONE(62);
    for (u32 i = 0; i < N; i++)
        entered += k->delay_weight[i] ? s->entered[i] : 0;
    for (u32 i = 0; i < N; i++)
        part = least(part, div_shift(s->entered[i], entered, 62));
    if (s->gaps)
        load = div_shift(div_shift(mul_shift(s->sizes, 1000000000, 0), s->gaps, 20), k->link, 40);
    return mul_shift(mul_shift(mul_shift(gain, part, 62), load, 40), most(load, ONE(40)), 40) / most(count, 1);
}

/* Moves rates towards the relation of delays, without going below a minimum; no class loses a packet. */
GLOBAL u32 relate(struct state *s GIVEN, const struct params *k GIVEN, u64 now, const struct lanes *lanes GIVEN)
{
    s64 upper = k->link, *change = s->part, sum = 0, count = 0, minima = 0, credit = 0;
    u64 speed;
    s->arrivals = 0;
    for (u32 i = 0; i < N; i++) {
        change[i] = 0;
        if (!lanes->of[i].packets)
            continue;
        if (!k->delay_weight[i]) {
            upper -= s->rate[i];
            continue;
        }
        change[i] = mul_shift(seconds(now - lanes->of[i].since), k->delay_weight[i], 62);
        sum += change[i];
        minima += s->min_rate[i];
        count++;
    }
    if (upper < NO_RATE || !lanes->whole.packets)
        return N;
    speed = gain(s, k, upper, count);
    for (u32 i = 0; i < N; i++)
        if (k->delay_weight[i] && lanes->of[i].packets)
            change[i] = clip(scale(scale(count * change[i] - sum, speed, 54), upper, 44), -(s64)ONE(59), ONE(59));
    for (u32 i = 0; i < N; i++) {
        s64 rate = s->rate[i] + change[i];
        if (!k->delay_weight[i])
            continue;
        if (rate > upper + NO_RATE) {
            for (u32 j = 0; j < N; j++)
                if (k->delay_weight[j])
                    change[j] = (i == j ? upper - minima : 0) + s->min_rate[j] - s->rate[j];
            credit = 0;
            break;
        }
        if (rate < s->min_rate[i]) {
            credit += s->min_rate[i] - rate;
            change[i] = s->min_rate[i] - s->rate[i];
        }
    }
    for (u32 i = N; i-- > 0;) {
        s64 given = lower(change[i] + s->rate[i] - s->min_rate[i], credit);
        if (!k->delay_weight[i] || !lanes->of[i].packets || credit <= 0)
            continue;
        change[i] -= given;
        credit -= given;
    }
    for (u32 i = 0; i < N; i++)
        s->rate[i] += change[i];
    return N;
}

static void start(struct state *s, const struct params *k) {}

static u32 lane(struct state *s, const struct params *k, u64 now, const struct packet *packet)
{
    return clip(packet->class, 1, N) - 1;
}

/* The class that loses a packet so that there is room for the arrival: N if it is the arrival. */
GLOBAL u32 overflow(struct state *s GIVEN, const struct params *k GIVEN, const struct lanes *lanes GIVEN)
{
    u32 class = (s->arriving - 1) % N;
    if (k->loss_weight[class] || !may_lose(s, k, class, bits(s->size)))
        class = next_to_lose(s, k, lanes) % N;
    if (loses_arrival(s, k, lanes, class))
        return N;
    lose(s, class, victim(s, k, lanes, class));
    return class;
}

static u32 make_room(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                     const struct backlog *queue)
{
    const struct lanes *lanes = (const struct lanes *)queue;
    arrive(s, now, packet->lane, packet->size, lanes);
    return overflow(s, k, lanes);
}

static enum verdict on_enqueue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u32 random)
{
    u32 own = packet->lane % N;
    arrive(s, now, own, packet->size, (const struct lanes *)queue);
    if (queue->full)
        lose(s, own, bits(packet->size));
    s->arriving = 0;
    s->arrivals++;
    return PASS;
}

/* The class that loses a packet after an arrival: N for none. */
GLOBAL u32 shed(struct state *s GIVEN, const struct params *k GIVEN, u64 now, const struct lanes *lanes GIVEN)
{
    u32 class;
    if (!s->shedding) {
        if (has_min_rates(s, k, now, lanes))
            return s->arrivals >= (u64)k->sampling ? relate(s, k, now, lanes) : N;
        s->excess = assign(s, k, now, lanes);
    }
    class = next_to_shed(s, k, lanes);
    s->shedding = class < N;
    if (class < N) {
        lose(s, class, victim(s, k, lanes, class));
        return class;
    }
    settle(s, k, lanes);
    return relate(s, k, now, lanes);
}

static u32 evict(struct state *s, const struct params *k, u64 now, const struct backlog *queue)
{
    return shed(s, k, now, (const struct lanes *)queue);
}

/* The class that is furthest behind. */
GLOBAL u32 furthest_behind(struct state *s GIVEN, u64 now, const struct lanes *lanes GIVEN)
{
    u32 next = N;
    s64 furthest = 0;
    elapse(s, now, lanes);
    for (u32 i = 0; i < N; i++)
        if (lanes->of[i].packets && (next == N || s->behind[i] > furthest)) {
            next = i;
            furthest = s->behind[i];
        }
    for (u32 i = 0; i < N; i++)
        s->behind[i] = clip(s->behind[i] - furthest, -LARGEST, LARGEST);
    return next % N;
}

static u32 serve(struct state *s, const struct params *k, u64 now, const struct backlog *queue)
{
    return furthest_behind(s, now, (const struct lanes *)queue);
}

static enum verdict on_dequeue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u64 sojourn, u32 random)
{
    s->behind[packet->lane % N] -= (s64)(bits(packet->size) << 30);
    return PASS;
}

static void on_idle(struct state *s, const struct params *k, u64 now)
{
    if (!s->end)
        s->last = now;
    s->idle = true;
}

#include "host.h"
