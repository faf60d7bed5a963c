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

/* The link, and the law's memory. */
struct link {
    struct state law;
    u64 free_at; /* when the last packet has been sent */
    u64 due; /* the next periodic update */
    u64 idle; /* whether the law knows that the link is idle */
    struct backlog queue;
};

INLINE void periods(struct link *l, const struct params *k, u64 until)
{
#ifdef LAW_PERIOD
    u64 period = k->LAW_PERIOD, n;
    if (until < l->due || !period)
        return;
    n = (until - l->due) / period + 1;
    l->due += n * period;
    l->queue.full = false;
    on_period(&l->law, k, l->due - period, &l->queue, n);
#endif
}

/*
 * Performs what happened before an arrival or departure at `now`. Of simultaneous events the periodic update is first,
 * then an arrival, which finds a link that is just free not yet idle.
 */
INLINE void advance(struct link *l, const struct params *k, u64 now)
{
    if (!l->idle && !l->queue.packets && l->free_at < now) {
        periods(l, k, l->free_at);
        on_idle(&l->law, k, l->free_at);
        l->idle = true;
    }
    periods(l, k, now);
    /* If this is an arrival that is dropped, the link is idle from now on. */
    if (l->idle)
        l->free_at = now;
}

INLINE void begin(struct link *l, const struct params *k, u64 now)
{
    l->free_at = now;
    l->idle = true;
#ifdef LAW_PERIOD
    l->due = now + k->LAW_PERIOD;
#endif
    start(&l->law, k);
}

/* aqmlab finds these texts in the compiled file. */
__attribute__((section(".aqm"), used)) static const char params_text[] = "aqmlab params " PARAMS(AQM_TEXT);
__attribute__((section(".aqm"), used)) static const char signals_text[] = "aqmlab signals " SIGNALS(AQM_TEXT);

#ifdef __bpf__
#include "qdisc.h"
#else
#include "library.h"
#endif
