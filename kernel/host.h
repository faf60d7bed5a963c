/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Ends the file of a law: the events of a link in their order, and what makes of it a queue discipline or a library. */
#ifndef LAW_DEQUEUES
INLINE enum verdict on_dequeue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u64 sojourn, u32 random)
{
    return PASS;
}
#endif
#ifndef LAW_IDLES
INLINE void on_idle(struct state *s, const struct params *k, u64 now) {}
#endif

#ifdef LAW_LANES
#define LANES LAW_LANES
#else
#define LANES 0
INLINE u32 lane(struct state *s, const struct params *k, u64 now, const struct packet *packet) { return 0; }
INLINE u32 serve(struct state *s, const struct params *k, u64 now, const struct backlog *queue) { return 0; }
#endif

#ifdef LAW_PERIOD
#define LAW_EVERY k->LAW_PERIOD
#endif

/* The link, and the law's memory. */
struct link {
    struct state law;
    u64 free_at; /* when the last packet has been sent */
    u64 due; /* the next periodic update */
    u64 idle; /* whether the law knows that the link is idle */
    struct backlog queue[1 + LANES];
};

INLINE void periods(struct link *l, const struct params *k, u64 until)
{
#ifdef LAW_EVERY
    u64 period = LAW_EVERY, n;
    if (until < l->due || !period)
        return;
    n = (until - l->due) / period + 1;
    l->due += n * period;
    l->queue->full = false;
    on_period(&l->law, k, l->due - period, l->queue, n);
#endif
}

/*
 * Performs what happened before an arrival or departure at `now`. Of simultaneous events the periodic update is first,
 * then an arrival, which finds a link that is just free not yet idle.
 */
INLINE void advance(struct link *l, const struct params *k, u64 now)
{
    if (!l->idle && !l->queue->packets && l->free_at < now) {
        periods(l, k, l->free_at);
        on_idle(&l->law, k, l->free_at);
        l->idle = true;
    }
    periods(l, k, now);
    /* If this is an arrival that is dropped, the link is idle from now on. */
    if (l->idle)
        l->free_at = now;
}

/* Adds to the whole and to a lane, or with minus one packet, takes away. */
INLINE void count(struct link *l, u32 lane, s64 packets, u32 size)
{
    l->queue->packets += packets;
    l->queue->bytes += packets * size;
#ifdef LAW_LANES
    if (lane < LANES) {
        l->queue[1 + lane].packets += packets;
        l->queue[1 + lane].bytes += packets * size;
    }
#endif
}

INLINE void begin(struct link *l, const struct params *k, u64 now)
{
    l->free_at = now;
    l->idle = true;
#ifdef LAW_EVERY
    l->due = now + LAW_EVERY;
#endif
    start(&l->law, k);
#ifdef LAW_BEGINS_IDLE
    on_idle(&l->law, k, now);
#endif
}

/* aqmlab finds these texts in the compiled file. */
__attribute__((section(".aqm"), used)) static const char params_text[] = "aqmlab params " PARAMS(AQM_TEXT);
__attribute__((section(".aqm"), used)) static const char signals_text[] = "aqmlab signals " SIGNALS(AQM_TEXT);

#ifdef __bpf__
#include "qdisc.h"
#else
#include "library.h"
#endif
