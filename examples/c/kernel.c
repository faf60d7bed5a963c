/* Linux's CoDel in user space, for cost.c, which says how to make codel_kernel.h of a kernel's source. The queue around
 * it is like that of sch_codel: a list of packets with a limit.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;

#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_USEC 1000L
#define WRITE_ONCE(place, value) (*(volatile __typeof__(place) *)&(place) = (value))
#define unlikely(x) __builtin_expect(!!(x), 0)
#define typecheck(type, x) 1
#define do_div(n, base) ((n) /= (base))
#define max_t(type, a, b) ((type)(a) > (type)(b) ? (type)(a) : (type)(b))

struct sk_buff {
    struct sk_buff *next;
    u32 len;
    u32 enqueue_time;
    u8 ecn;
};

static u64 now_ns;

static inline u64 ktime_get_ns(void) { return now_ns; }
static inline u32 reciprocal_scale(u32 value, u32 range) { return (u64)value * range >> 32; }
static inline int skb_get_dsfield(struct sk_buff *skb) { return skb->ecn; }
static inline bool INET_ECN_set_ce(struct sk_buff *skb) { return skb->ecn != 0 && (skb->ecn = 3); }

#include "codel_kernel.h"

enum { LIMIT = 1000 };

static struct {
    struct sk_buff *head, **tail, *spare;
    u32 packets, backlog;
    u64 dropped, sent_bytes;
    struct codel_params params;
    struct codel_vars vars;
    struct codel_stats stats;
    struct sk_buff pool[LIMIT + 1];
} queue;

void kernel_reset(void) {
    memset(&queue, 0, sizeof queue);
    queue.tail = &queue.head;
    codel_params_init(&queue.params);
    codel_vars_init(&queue.vars);
    codel_stats_init(&queue.stats);
    queue.params.mtu = 1500;
    for (int i = 0; i <= LIMIT; i++) {
        queue.pool[i].next = queue.spare;
        queue.spare = &queue.pool[i];
    }
}

u64 kernel_dropped(void) { return queue.dropped; }

static u32 length(const struct sk_buff *skb) { return skb->len; }
static u32 arrival(const struct sk_buff *skb) { return skb->enqueue_time; }

static void give_back(struct sk_buff *skb) {
    skb->next = queue.spare;
    queue.spare = skb;
}

static void drop(struct sk_buff *skb, void *context) {
    (void)context;
    queue.dropped++;
    give_back(skb);
}

static struct sk_buff *take(struct codel_vars *vars, void *context) {
    (void)vars, (void)context;
    struct sk_buff *skb = queue.head;
    if (skb == NULL) return NULL;
    queue.head = skb->next;
    if (queue.head == NULL) queue.tail = &queue.head;
    queue.packets--;
    queue.backlog -= skb->len;
    return skb;
}

void kernel_enqueue(u64 now, u32 size, u8 ecn) {
    now_ns = now;
    if (queue.packets >= LIMIT) {
        queue.dropped++;
        return;
    }
    struct sk_buff *skb = queue.spare;
    queue.spare = skb->next;
    *skb = (struct sk_buff){.len = size, .enqueue_time = codel_get_time(), .ecn = ecn};
    *queue.tail = skb;
    queue.tail = &skb->next;
    queue.packets++;
    queue.backlog += size;
}

void kernel_dequeue(u64 now) {
    now_ns = now;
    struct sk_buff *skb = codel_dequeue(NULL, &queue.backlog, &queue.params, &queue.vars, &queue.stats, length,
                                        arrival, drop, take);
    queue.stats.drop_count = queue.stats.drop_len = 0;
    if (skb == NULL) return;
    queue.sent_bytes += skb->len;
    give_back(skb);
}
