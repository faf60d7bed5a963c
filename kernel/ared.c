/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Adaptive RED; see ared.h. */
#define NAME "ared"
#define PARAMS(X) ARED_PARAMS(X)
#define SIGNALS(X) ARED_SIGNALS(X)
#include "ared.h"

static void start(struct state *s, const struct params *k) { ared_start(s, k); }

static enum verdict on_enqueue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u32 random)
{
    return ared_enqueue(s, k, now, packet, queue, random);
}

static void on_idle(struct state *s, const struct params *k, u64 now) { red_idle(s, k, now); }

static void on_period(struct state *s, const struct params *k, u64 now, const struct backlog *queue, u64 n)
{
    ared_period(s, k, now, n);
}

#include "host.h"
