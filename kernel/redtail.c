/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * RED+Tail: short flows in a queue of their own without early drops, long flows in another queue with Adaptive RED.
 * The law, its sources and its parameters: crates/aqm/src/aqm/redtail.rs.
 *
 * Departures: those of ared.h for the long queue. Shares of the link are rounded to 2^-60, and the account B to 2^-40
 * bytes, so that another queue may be served where B is 0 without rounding. The table has 512 rows of 8 pairs, and a
 * new pair replaces the one of its row that has been silent longest. Pairs are told apart by a hash of 32 bits. The inner
 * algorithms are drop-tail and Adaptive RED; there is no prediction.
 */
#define NAME "redtail"
#define LAW_LANES 2
#define LAW_DEQUEUES
#define PARAMS(X) \
    ARED_PARAMS(X) X(n, 0) X(t, 0) X(key, 0) X(udp_short, 0) X(min_th1, 0) X(max_th1, 0) X(c1_min, 60) X(c1_max, 60) \
    X(link, 0)
#define SIGNALS(X) ARED_SIGNALS(X) X(c1, 0) X(pairs, 0) X(turned, 0)
#define ROWS 512
#define WAYS 8
#define RED_STATE \
    u64 share; /* C1 / C, Q 60 */ \
    u64 since, area, area_rest; /* its last change, its integral since `began` in ns, and what that lacks, Q 60 */ \
    u64 began, sending; /* when the transmission began, and how many of its bytes the queues share */ \
    s64 balance; /* B, Q 40 */ \
    u64 long_idle; \
    struct pair table[ROWS * WAYS];

enum { PAIR, FLOW }; /* key */
enum { SHORT, LONG };

struct pair {
    unsigned key;
    unsigned packets; /* 0 for no pair */
    unsigned long long last;
};

#include "ared.h"

/* Counts a packet of a pair; returns whether it is long. */
static bool is_long(struct state *s, const struct params *k, u64 now, u32 key)
{
    u32 row = (key * 0x9e3779b1u) >> 23, place = row * WAYS;
    struct pair *own;
    bool known = false;

    for (u32 i = 0; i < WAYS; i++) {
        const struct pair *one = &s->table[(row * WAYS + i) % (ROWS * WAYS)];
        const struct pair *oldest = &s->table[place % (ROWS * WAYS)];
        if (one->packets && one->key == key) {
            place = row * WAYS + i;
            known = true;
            break;
        }
        if (oldest->packets && (!one->packets || one->last < oldest->last))
            place = row * WAYS + i;
    }
    own = &s->table[place % (ROWS * WAYS)];
    if (!known || now - own->last > (u64)k->t)
        own->packets = 0;
    own->key = key;
    own->last = now;
    own->packets += own->packets < ~0u;
    s->pairs += own->packets == 1;
    s->turned += own->packets - 1 == k->n;
    return own->packets > k->n;
}

static u32 lane(struct state *s, const struct params *k, u64 now, const struct packet *packet)
{
    if (packet->udp && k->udp_short)
        return SHORT;
    return is_long(s, k, now, k->key == PAIR ? packet->pair : packet->flow) ? LONG : SHORT;
}

INLINE void integrate(struct state *s, u64 now)
{
    u64 time = now - s->since;
    s->area_rest += s->share * time & (ONE(60) - 1);
    s->area += mul_shift(s->share, time, 60) + (s->area_rest >> 60);
    s->area_rest &= ONE(60) - 1;
    s->since = now;
}

/* From `now` on the short queue has q1 bytes. */
INLINE void change(struct state *s, const struct params *k, u64 now, u64 q1)
{
    integrate(s, now);
    if (q1 == 0)
        s->share = 0;
    else if (q1 < (u64)k->min_th1)
        s->share = k->c1_min;
    else
        s->share = least(div_shift(q1, k->max_th1, 60), k->c1_max);
    s->c1 = mul_shift(s->share, k->link, 60);
}

/* Ends a transmission: allots to the short queue its share of the packet. */
INLINE void settle(struct state *s, u64 now)
{
    u64 time = now - s->began;
    integrate(s, now);
    s->balance += mul_shift(time ? div_shift(s->area, time, 60) + s->area_rest / time : s->share, s->sending, 20);
    s->began = now;
    s->area = s->area_rest = s->sending = 0;
}

INLINE void rest(struct state *s, const struct params *k, u64 now)
{
    if (!s->long_idle)
        red_idle(s, k, now);
    s->long_idle = true;
}

static void start(struct state *s, const struct params *k)
{
    ared_start(s, k);
    s->long_idle = true;
}

static enum verdict on_enqueue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u32 random)
{
    struct backlog own = queue[1 + LONG];
    enum verdict verdict = PASS;
    u64 q1 = queue[1 + SHORT].bytes;

    own.full = queue->full;
    if (packet->lane == LONG)
        verdict = ared_enqueue(s, k, now, packet, &own, random);
    if (!queue->full && verdict != DROP) {
        if (packet->lane == LONG)
            s->long_idle = false;
        else
            q1 += packet->size;
    }
    change(s, k, now, q1);
    return verdict;
}

static u32 serve(struct state *s, const struct params *k, u64 now, const struct backlog *queue)
{
    settle(s, now);
    if (!queue[1 + LONG].packets) {
        rest(s, k, now);
        return SHORT;
    }
    return queue[1 + SHORT].packets && s->balance >= 0 ? SHORT : LONG;
}

static enum verdict on_dequeue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u64 sojourn, u32 random)
{
    change(s, k, now, queue[1 + SHORT].bytes);
    if (packet->lane == LONG) {
        s->sending = packet->size;
    } else if (queue[1 + LONG].packets) {
        s->sending = packet->size;
        s->balance -= (s64)packet->size << 40;
    }
    return PASS;
}

static void on_idle(struct state *s, const struct params *k, u64 now)
{
    rest(s, k, now);
    settle(s, now);
    change(s, k, now, 0);
    s->balance = 0;
}

static void on_period(struct state *s, const struct params *k, u64 now, const struct backlog *queue, u64 n)
{
    ared_period(s, k, now, n);
}

#include "host.h"
