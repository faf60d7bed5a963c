/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * BLUE: drops with a probability that overflow raises and an idle link lowers.
 * The law, its sources and its parameters: crates/aqm/src/aqm/blue.rs.
 *
 * Departures: p and its steps are rounded to 2^-48. That the link has become idle is known at the next arrival, and
 * counts from when it did.
 */
#include "aqm.h"

#define NAME "blue"
#define LAW_IDLES
#define PARAMS(X) X(d1, 48) X(d2, 48) X(freeze_time, 0) X(l, 16) X(idle, 0) X(ecn, 0)
#define SIGNALS(X) X(p, 48)

enum idle { LASTING, ONCE };

struct params { PARAMS(AQM_FIELD) };

struct state {
    SIGNALS(AQM_FIELD)
    u64 moved; /* when p moved last */
    bool has_moved;
    bool is_idle;
};

static void start(struct state *s, const struct params *k) {}

/* Moves p, unless it has moved within the freeze time. */
static void move(struct state *s, const struct params *k, u64 now, s64 step)
{
    if (s->has_moved && now - s->moved <= (u64)k->freeze_time)
        return;
    s->has_moved = true;
    s->moved = now;
    s->p = clip(s->p + step, 0, ONE(48));
}

/* Lowers p once for each freeze time that has passed. */
static void lower_since(struct state *s, const struct params *k, u64 now)
{
    u64 freeze = most(k->freeze_time, 1), steps;
    if (!s->has_moved)
        return;
    steps = (now - s->moved) / freeze;
    s->p = clip(s->p - scale(k->d2, steps, 0), 0, ONE(48));
    s->moved += steps * freeze;
}

static enum verdict on_enqueue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u32 random)
{
    if (s->is_idle)
        lower_since(s, k, now);
    s->is_idle = false;
    if (queue->full || queue->packets << 16 > (u64)k->l)
        move(s, k, now, k->d1);
    return !queue->full && happens((u64)s->p >> 16, random) ? signal(k->ecn && packet->ect) : PASS;
}

static void on_idle(struct state *s, const struct params *k, u64 now)
{
    move(s, k, now, -k->d2);
    s->is_idle = k->idle == LASTING;
}

#include "host.h"
