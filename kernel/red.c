/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * RED: drops with a probability that grows with the average queue; Gentle RED (gred) and its form on the present queue
 * (gredi) are RED with certain parameters.
 * The law, its sources and its parameters: crates/aqm/src/aqm/red.rs.
 *
 * Departures: those of red.h.
 */
#define NAME "red"
#define PARAMS(X) RED_PARAMS(X)
#define SIGNALS(X) RED_SIGNALS(X)
#include "red.h"

static void start(struct state *s, const struct params *k) { red_start(s, k, k->max_p); }

static enum verdict on_enqueue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u32 random)
{
    estimate(s, k, now, queue);
    return decide(s, k, packet, queue, random);
}

static void on_idle(struct state *s, const struct params *k, u64 now) { red_idle(s, k, now); }

#include "host.h"
