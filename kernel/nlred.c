/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * NLRED: Nonlinear RED, whose drop probability rises with the square of the average queue.
 * The law, its sources and its parameters: crates/aqm/src/aqm/nlred.rs.
 *
 * Departures: those of red.h.
 */
#define NAME "nlred"
#define PARAMS(X) RED_PARAMS(X)
#define SIGNALS(X) RED_SIGNALS(X)
#define QUADRATIC
#include "red.h"

static void start(struct state *s, const struct params *k) { red_start(s, k, 3 * (u64)k->max_p / 2); }

static enum verdict on_enqueue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u32 random)
{
    estimate(s, k, now, queue);
    return decide(s, k, packet, queue, random);
}

static void on_idle(struct state *s, const struct params *k, u64 now) { red_idle(s, k, now); }

#include "host.h"
