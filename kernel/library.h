/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A law as a shared library, for tests: cc -shared -fPIC -O2 -o lred.so lred.c */
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *aqm_params(void) { return params_text; }
EXPORT const char *aqm_signals(void) { return signals_text; }
EXPORT u64 aqm_size(void) { return sizeof(struct link); }

EXPORT void aqm_begin(struct link *l, const struct params *k, u64 now) { begin(l, k, now); }

EXPORT void aqm_advance(struct link *l, const struct params *k, u64 now, const struct backlog *queue)
{
    memcpy(l->queue, queue, sizeof(l->queue));
    advance(l, k, now);
}

/* The lane is in the second byte. */
EXPORT int aqm_enqueue(struct link *l, const struct params *k, u64 now, const struct packet *packet,
                       const struct backlog *queue, u32 random)
{
    struct packet own = *packet;
    aqm_advance(l, k, now, queue);
    l->queue->full = queue->full;
    l->idle = false;
    own.lane = lane(&l->law, k, now, packet);
    return on_enqueue(&l->law, k, now, &own, l->queue, random) | own.lane << 8;
}

EXPORT int aqm_serve(struct link *l, const struct params *k, u64 now, const struct backlog *queue)
{
    aqm_advance(l, k, now, queue);
    return serve(&l->law, k, now, l->queue);
}

#ifdef LAW_EVICTS
EXPORT int aqm_make_room(struct link *l, const struct params *k, u64 now, const struct packet *packet,
                         const struct backlog *queue)
{
    struct packet own = *packet;
    aqm_advance(l, k, now, queue);
    own.lane = lane(&l->law, k, now, packet);
    return make_room(&l->law, k, now, &own, l->queue);
}

EXPORT int aqm_evict(struct link *l, const struct params *k, u64 now, const struct backlog *queue)
{
    memcpy(l->queue, queue, sizeof(l->queue));
    return evict(&l->law, k, now, l->queue);
}
#endif

/* The packet is still in the queue. */
EXPORT int aqm_dequeue(struct link *l, const struct params *k, u64 now, const struct packet *packet,
                       const struct backlog *queue, u64 sojourn, u32 random)
{
    aqm_advance(l, k, now, queue);
    count(l, packet->lane, -1, packet->size);
    return on_dequeue(&l->law, k, now, packet, l->queue, sojourn, random);
}

EXPORT void aqm_free(struct link *l, u64 at) { l->free_at = at; }
