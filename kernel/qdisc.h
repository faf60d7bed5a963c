/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A law as a queue discipline of the kernel: Qdisc_ops of Linux 6.16 and later, from net/sched/bpf_qdisc.c.
 *
 * The queue is a list in a map, with an entry for each queue discipline that is in use. It is a link of its own: with a
 * rate, packets leave as that link would begin to send them, since such a discipline cannot stand under another one.
 */
typedef signed char __s8;
typedef u8 __u8;
typedef u16 __u16, __be16, __sum16;
typedef int __s32;
typedef u32 __u32, __be32, __wsum;
typedef s64 __s64;
typedef u64 __u64;
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct net_device {
    int ifindex;
};
struct netdev_queue {
    struct net_device *dev;
};
struct qdisc_skb_head {
    u32 qlen;
};
struct gnet_stats_queue {
    u32 qlen;
    u32 backlog;
    u32 drops;
    u32 requeues;
    u32 overlimits;
};
struct Qdisc {
    u32 limit;
    struct netdev_queue *dev_queue;
    struct qdisc_skb_head q;
    struct gnet_stats_queue qstats;
};
struct qdisc_skb_cb {
    u32 pkt_len;
    unsigned char data[20];
};
struct sk_buff {
    u32 len;
    char cb[48];
    u16 network_header, mac_header;
};
struct __sk_buff {
    u32 len, pkt_type, mark, queue_mapping, protocol, vlan_present, vlan_tci, vlan_proto, priority, ingress_ifindex;
    u32 ifindex, tc_index, cb[5];
};
struct Qdisc_ops {
    char id[16];
    int (*enqueue)(struct sk_buff *, struct Qdisc *, struct sk_buff **);
    struct sk_buff *(*dequeue)(struct Qdisc *);
    int (*init)(struct Qdisc *, void *, void *);
    void (*reset)(struct Qdisc *);
    void (*destroy)(struct Qdisc *);
};
#pragma clang attribute pop

enum { BPF_MAP_TYPE_HASH = 1 };
enum { NET_XMIT_SUCCESS, NET_XMIT_DROP, NET_XMIT_CN };

struct bpf_spin_lock {
    u32 val;
};
struct bpf_list_head {
    u64 : 64;
    u64 : 64;
} __attribute__((aligned(8)));
struct bpf_list_node {
    u64 : 64;
    u64 : 64;
    u64 : 64;
} __attribute__((aligned(8)));
struct bpf_iter_num {
    u64 opaque[1];
} __attribute__((aligned(8)));
struct bpf_sk_buff_ptr {
    struct sk_buff *skb;
};

extern void *bpf_obj_new_impl(u64 type, void *meta) __ksym;
extern void bpf_obj_drop_impl(void *object, void *meta) __ksym;
extern int bpf_list_push_back_impl(struct bpf_list_head *head, struct bpf_list_node *node, void *meta, u64 offset) __ksym;
extern struct bpf_list_node *bpf_list_pop_front(struct bpf_list_head *head) __ksym;
extern struct bpf_list_node *bpf_list_pop_back(struct bpf_list_head *head) __ksym;
extern struct bpf_list_node *bpf_list_front(struct bpf_list_head *head) __ksym;
extern struct bpf_list_node *bpf_list_back(struct bpf_list_head *head) __ksym;
extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __ksym;
extern u32 bpf_skb_get_hash(struct sk_buff *skb) __ksym;
extern void bpf_kfree_skb(struct sk_buff *skb) __ksym;
extern void bpf_qdisc_skb_drop(struct sk_buff *skb, struct bpf_sk_buff_ptr *to_free) __ksym;
extern void bpf_qdisc_watchdog_schedule(struct Qdisc *sch, u64 expire, u64 slack) __ksym;
extern void bpf_qdisc_bstats_update(struct Qdisc *sch, const struct sk_buff *skb) __ksym;

#define obj_new(type) ((type *)bpf_obj_new_impl(bpf_core_type_id_local(type), 0))
#define holds(type, member) __attribute__((btf_decl_tag("contains:" #type ":" #member)))
#ifndef container_of
#define container_of(pointer, type, member) ((type *)((void *)(pointer) - __builtin_offsetof(type, member)))
#endif

char _license[] SEC("license") = "Dual MIT/GPL";

/* What the loader sets for a device, or a test, for 0, for any: the link, and the law's numbers. */
struct device {
    u64 rate; /* bit/s; 0 for the device's own */
    u64 packets, bytes; /* what may wait; 0 for no limit */
    struct params law;
};

struct counts {
    u64 arrivals, departures, drops_early, drops_full, drops_memory, marks;
};

struct waiting {
    struct sk_buff __kptr *skb;
    u64 arrived;
    u64 packet[sizeof(struct packet) / 8]; /* the verifier knows no store over several members */
    struct bpf_list_node node;
};

/* X(i) for each lane but the first: the verifier has a list of its own for each. */
#if LANES == 4
#define LATER_LANES(X) X(1) X(2) X(3)
#elif LANES == 2
#define LATER_LANES(X) X(1)
#else
#define LATER_LANES(X)
#endif
#define LINE(i) struct bpf_list_head line##i holds(waiting, node);

/* `aqmlab kernel show` reads this as far as the law's signals, with which its state begins. */
struct qdisc {
    u64 ifindex;
    struct counts counts;
    struct device device;
    struct link link;
    struct bpf_spin_lock lock;
    LINE(0)
    LATER_LANES(LINE)
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __type(key, u32);
    __type(value, struct device);
    __uint(max_entries, 256);
} devices SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __type(key, u64);
    __type(value, struct qdisc);
    __uint(max_entries, LANES ? 16 : 64); /* whose memory is taken at once */
} qdiscs SEC(".maps");

/* Marks that the law has decided on a device whose ECN field the program `mark` reads, and that no packet carries yet. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __type(key, u32);
    __type(value, u64);
    __uint(max_entries, 256);
} marks SEC(".maps");

static const char nothing[sizeof(struct qdisc)];

/*
 * The clock and the random numbers. With AQM_SCRIPT, for tests, the map `script` has both: arrival n is its entry n, and
 * the link of the device's `rate` sends as that clock says until the time of the next entry.
 */
#ifdef AQM_SCRIPT
enum { BPF_MAP_TYPE_ARRAY = 2 };
struct arrival {
    u64 at;
    u64 random;
};
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, u32);
    __type(value, struct arrival);
    __uint(max_entries, 1 << 17);
} script SEC(".maps");
u32 arrivals;

INLINE struct arrival scripted(u32 n)
{
    struct arrival *found = bpf_map_lookup_elem(&script, &n);
    return found ? *found : (struct arrival){.at = U64_MAX};
}

INLINE struct arrival arrival(void) { return scripted(arrivals++); }

INLINE u64 clock(const struct qdisc *q) { return most(q->link.free_at, scripted(arrivals - 1).at); }

INLINE bool waits(const struct qdisc *q, u64 now) { return now >= scripted(arrivals).at; }

/* The next arrival does. */
INLINE void wake(struct Qdisc *sch, u64 at) {}
#else
struct arrival {
    u64 at;
    u32 random;
};

INLINE struct arrival arrival(void) { return (struct arrival){bpf_ktime_get_ns(), bpf_get_prandom_u32()}; }

INLINE u64 clock(const struct qdisc *q) { return bpf_ktime_get_ns(); }

INLINE bool waits(const struct qdisc *q, u64 now) { return q->device.rate && now < q->link.free_at; }

INLINE void wake(struct Qdisc *sch, u64 at) { bpf_qdisc_watchdog_schedule(sch, at, 0); }
#endif

#define MOST_LOOPS (1 << 22) /* the kernel has a limit near it */
#define LATEST 10000000ULL /* ns that the kernel may be late without loss of rate */

INLINE struct qdisc *of(struct Qdisc *sch)
{
    u64 key = (u64)sch;
    return bpf_map_lookup_elem(&qdiscs, &key);
}

INLINE bool refuses(const struct qdisc *q, u32 size)
{
    return (q->device.packets && q->link.queue->packets >= q->device.packets) ||
           (q->device.bytes && q->link.queue->bytes + size > q->device.bytes);
}

/* What `mark` writes of a packet for the queue discipline: its ECN field, after what no other program writes there. */
struct note {
    u32 own;
    u32 ecn;
};
#define OWN 0x6d7161a9
#define CE 3

INLINE struct packet arriving(struct sk_buff *skb)
{
    const struct qdisc_skb_cb *cb = (struct qdisc_skb_cb *)skb->cb;
    const struct note *note = (const struct note *)cb->data;
    u32 ecn = note->own == OWN ? note->ecn : 0;
    return (struct packet){.size = cb->pkt_len, .flow = bpf_skb_get_hash(skb), .ect = ecn != 0, .ce = ecn == CE};
}

#ifdef LAW_LANES
struct bpf_dynptr {
    u64 opaque[2];
} __attribute__((aligned(8)));
extern int bpf_dynptr_from_skb(struct sk_buff *skb, u64 flags, struct bpf_dynptr *ptr) __ksym;
extern void *bpf_dynptr_slice(const struct bpf_dynptr *ptr, u32 offset, void *buffer, u32 size) __ksym;

/* The addresses and the protocol of IP: 4, or 6 without extension headers. */
INLINE void read_header(struct sk_buff *skb, struct packet *packet)
{
    u32 buffer[10] = {}, *head, offset = (u16)(skb->network_header - skb->mac_header);
    struct bpf_dynptr data;

    packet->class = 4;
    if (bpf_dynptr_from_skb(skb, 0, &data))
        return;
    head = bpf_dynptr_slice(&data, offset, buffer, 20);
    if (!head)
        return;
    if ((head[0] & 0xf0) == 0x40) {
        packet->udp = (head[2] >> 8 & 0xff) == 17;
        packet->pair = head[3] * 0x9e3779b1 ^ head[4];
        packet->class -= head[0] >> 14 & 3;
        return;
    }
    packet->udp = (head[1] >> 16 & 0xff) == 17;
    packet->class -= head[0] >> 2 & 3;
    head = bpf_dynptr_slice(&data, offset, buffer, 40);
    if (head)
        for (int i = 2; i < 10; i++)
            packet->pair = packet->pair * 0x9e3779b1 ^ head[i];
}
#else
INLINE void read_header(struct sk_buff *skb, struct packet *packet) {}
#endif

/* Marks that wait for packets: as many as a burst has, so that the end of an overload leaves few to another flow. */
#define MOST_OWED 16

/* A queue discipline may not write to packets: the next one that is ECN-capable carries the mark. */
INLINE void owe(struct qdisc *q, const struct packet *packet)
{
    u32 ifindex = q->ifindex;
    u64 *owed = bpf_map_lookup_elem(&marks, &ifindex);
    q->counts.marks++;
    if (owed && !packet->ce && *owed < MOST_OWED)
        __sync_fetch_and_add(owed, 1);
}

/* Makes facts of a lane's first packet and last one. */
INLINE void look(struct qdisc *q, u32 lane)
{
#ifdef LAW_EVICTS
    struct bpf_list_node *front, *back;
    struct backlog *own = &q->link.queue[1 + lane % LANES];
    switch (lane) {
#define ENDS(i) case i: front = bpf_list_front(&q->line##i); back = bpf_list_back(&q->line##i); break;
        LATER_LANES(ENDS)
    default:
        front = bpf_list_front(&q->line0);
        back = bpf_list_back(&q->line0);
    }
    if (front && back) {
        own->since = container_of(front, struct waiting, node)->arrived;
        own->first = container_of(front, struct waiting, node)->packet[0];
        own->last = container_of(back, struct waiting, node)->packet[0];
    }
#endif
}

INLINE void append(struct qdisc *q, struct waiting *new, u32 lane)
{
    bpf_spin_lock(&q->lock);
    switch (lane) {
#define PUSH(i) case i: bpf_list_push_back_impl(&q->line##i, &new->node, 0, 0); break;
        LATER_LANES(PUSH)
    default:
        bpf_list_push_back_impl(&q->line0, &new->node, 0, 0);
    }
    look(q, lane);
    bpf_spin_unlock(&q->lock);
}

/* The first packet of a lane, or the last one, which then waits no more. */
INLINE struct waiting *take(struct qdisc *q, u32 lane, bool from_back)
{
    struct bpf_list_node *node;
    bpf_spin_lock(&q->lock);
    switch (lane) {
#define POP(i) case i: node = from_back ? bpf_list_pop_back(&q->line##i) : bpf_list_pop_front(&q->line##i); break;
        LATER_LANES(POP)
    default:
        node = from_back ? bpf_list_pop_back(&q->line0) : bpf_list_pop_front(&q->line0);
    }
    look(q, lane);
    bpf_spin_unlock(&q->lock);
    return node ? container_of(node, struct waiting, node) : 0;
}

/* As `take`; returns the packet and its properties, and takes it from the backlog. */
INLINE struct sk_buff *leave(struct qdisc *q, struct Qdisc *sch, u32 lane, bool from_back, struct packet *packet,
                             u64 *arrived)
{
    struct waiting *next = take(q, lane, from_back);
    struct sk_buff *skb = 0;

    if (!next)
        return 0;
    *arrived = next->arrived;
    __builtin_memcpy(packet, next->packet, sizeof(*packet));
    skb = bpf_kptr_xchg(&next->skb, skb);
    bpf_obj_drop_impl(next, 0);
    if (!skb)
        return 0;
    count(&q->link, packet->lane, -1, packet->size);
    sch->q.qlen--;
    sch->qstats.backlog -= packet->size;
    return skb;
}

#ifdef LAW_EVICTS
/* Drops a packet that waits; returns whether there is one. */
INLINE bool expel(struct qdisc *q, struct Qdisc *sch, u32 lane, struct bpf_sk_buff_ptr *to_free)
{
    const struct params *k = &q->device.law;
    struct packet packet;
    struct sk_buff *skb;
    u64 arrived;

    if (lane >= LANES)
        return false;
    skb = leave(q, sch, lane, !(LAW_EVICTS), &packet, &arrived);
    if (!skb)
        return false;
    sch->qstats.drops++;
    bpf_qdisc_skb_drop(skb, to_free);
    return true;
}

/* Drops what the law chooses: for room for an arrival, or if that is none, after one. */
INLINE void expel_all(struct qdisc *q, struct Qdisc *sch, u64 now, const struct packet *arrival,
                      struct bpf_sk_buff_ptr *to_free)
{
    struct bpf_iter_num each;

    bpf_iter_num_new(&each, 0, least(q->link.queue->packets + 1, MOST_LOOPS));
    while (bpf_iter_num_next(&each)) {
        u32 lane;
        if (arrival && !q->link.queue->full)
            break;
        lane = arrival ? make_room(&q->link.law, &q->device.law, now, arrival, q->link.queue)
                       : evict(&q->link.law, &q->device.law, now, q->link.queue);
        if (!expel(q, sch, lane, to_free))
            break;
        if (arrival) {
            q->counts.drops_full++;
            q->link.queue->full = refuses(q, arrival->size);
        } else {
            q->counts.drops_early++;
        }
    }
    bpf_iter_num_destroy(&each);
}
#endif

/* When a packet that leaves now has been sent; a link that is late for a packet that waited has not lost the time. */
INLINE u64 sent_at(const struct qdisc *q, u64 now, u64 arrived, u32 size)
{
    if (!q->device.rate)
        return now;
    return most(most(q->link.free_at, arrived), most(now, LATEST) - LATEST) +
           (size * 8000000000ULL + q->device.rate - 1) / q->device.rate;
}

/* Passes an arrival to the law and the queue. */
INLINE int admit(struct qdisc *q, struct Qdisc *sch, struct arrival came, struct sk_buff *skb,
                 struct bpf_sk_buff_ptr *to_free)
{
    struct packet packet;
    struct waiting *new;
    enum verdict verdict;

    packet = arriving(skb);
    read_header(skb, &packet);
    advance(&q->link, &q->device.law, came.at);
    q->link.idle = false;
    q->link.queue->full = refuses(q, packet.size);
    packet.lane = lane(&q->link.law, &q->device.law, came.at, &packet);
#ifdef LAW_EVICTS
    if (!q->device.bytes || packet.size <= q->device.bytes)
        expel_all(q, sch, came.at, &packet, to_free);
#endif
    q->counts.arrivals++;
    verdict = on_enqueue(&q->link.law, &q->device.law, came.at, &packet, q->link.queue, came.random);
    if (q->link.queue->full) {
        q->counts.drops_full++;
        goto drop;
    }
    if (verdict == DROP) {
        q->counts.drops_early++;
        sch->qstats.drops++;
        bpf_qdisc_skb_drop(skb, to_free);
        return NET_XMIT_CN;
    }
    new = obj_new(struct waiting);
    if (!new) {
        q->counts.drops_memory++;
        goto drop;
    }
    if (verdict == MARK)
        owe(q, &packet);
    new->arrived = came.at;
    __builtin_memcpy(new->packet, &packet, sizeof(packet));
    skb = bpf_kptr_xchg(&new->skb, skb);
    if (skb)
        bpf_qdisc_skb_drop(skb, to_free);
    append(q, new, packet.lane);
    count(&q->link, packet.lane, 1, packet.size);
    sch->q.qlen++;
    sch->qstats.backlog += packet.size;
    return NET_XMIT_SUCCESS;
drop:
    sch->qstats.drops++;
    bpf_qdisc_skb_drop(skb, to_free);
    return NET_XMIT_DROP;
}

SEC("struct_ops/enqueue")
int BPF_PROG(enqueue, struct sk_buff *skb, struct Qdisc *sch, struct bpf_sk_buff_ptr *to_free)
{
    struct arrival came = arrival();
    struct qdisc *q = of(sch);
    int result;

    if (!q) {
        sch->qstats.drops++;
        bpf_qdisc_skb_drop(skb, to_free);
        return NET_XMIT_DROP;
    }
    result = admit(q, sch, came, skb, to_free);
#ifdef LAW_EVICTS
    expel_all(q, sch, came.at, 0, to_free);
#endif
    return result;
}

SEC("struct_ops/dequeue")
struct sk_buff *BPF_PROG(dequeue, struct Qdisc *sch)
{
    struct qdisc *q = of(sch);
    struct bpf_iter_num each;
    struct sk_buff *sent = 0;
    u64 now;

    if (!q || !q->link.queue->packets)
        return 0;
    now = clock(q);
    if (waits(q, now)) {
        wake(sch, q->link.free_at);
        return 0;
    }
    advance(&q->link, &q->device.law, now);
    bpf_iter_num_new(&each, 0, least(q->link.queue->packets, MOST_LOOPS));
    while (bpf_iter_num_next(&each)) {
        u32 lane = serve(&q->link.law, &q->device.law, now, q->link.queue);
        struct packet packet;
        enum verdict verdict;
        u64 arrived;
        struct sk_buff *skb = leave(q, sch, lane, false, &packet, &arrived);

        if (!skb)
            break;
        verdict = on_dequeue(&q->link.law, &q->device.law, now, &packet, q->link.queue, now - arrived,
                             bpf_get_prandom_u32());
        if (verdict == DROP) {
            q->counts.drops_early++;
            q->link.free_at = most(q->link.free_at, now);
            sch->qstats.drops++;
            bpf_kfree_skb(skb);
            continue;
        }
        if (verdict == MARK)
            owe(q, &packet);
        q->link.free_at = sent_at(q, now, arrived, packet.size);
        q->counts.departures++;
        bpf_qdisc_bstats_update(sch, skb);
        sent = skb;
        break;
    }
    bpf_iter_num_destroy(&each);
    return sent;
}

/* Drops all that waits: a map does not, whose entry goes or is written anew. */
INLINE void empty(struct qdisc *q)
{
    struct bpf_iter_num each;
    u32 lane = 0;

    bpf_iter_num_new(&each, 0, MOST_LOOPS);
    while (bpf_iter_num_next(&each)) {
        struct waiting *next = take(q, lane, false);
        if (next)
            bpf_obj_drop_impl(next, 0); /* and the packet with it */
        else if (++lane >= most(LANES, 1))
            break;
    }
    bpf_iter_num_destroy(&each);
}

/* A queue at its beginning, with the counts and the numbers that it had. */
INLINE int renew(struct Qdisc *sch, const struct device *device, const struct counts *counts)
{
    u64 key = (u64)sch;
    struct qdisc *q;

    bpf_map_update_elem(&qdiscs, &key, nothing, 0);
    q = of(sch);
    if (!q)
        return -12; /* ENOMEM */
    q->ifindex = sch->dev_queue->dev->ifindex;
    q->device = *device;
    if (counts)
        q->counts = *counts;
#ifdef AQM_SCRIPT
    begin(&q->link, &q->device.law, 0);
#else
    begin(&q->link, &q->device.law, bpf_ktime_get_ns());
#endif
    sch->limit = device->packets;
    sch->q.qlen = 0;
    sch->qstats.backlog = 0;
    return 0;
}

SEC("struct_ops/init")
int BPF_PROG(init, struct Qdisc *sch, void *options, void *extack)
{
    u32 ifindex = sch->dev_queue->dev->ifindex, any = 0;
    struct device *device = bpf_map_lookup_elem(&devices, &ifindex);

    if (!device)
        device = bpf_map_lookup_elem(&devices, &any);
    return device ? renew(sch, device, 0) : -22; /* EINVAL */
}

SEC("struct_ops/reset")
void BPF_PROG(reset, struct Qdisc *sch)
{
    struct qdisc *q = of(sch);
    if (q) {
        struct device device = q->device;
        struct counts counts = q->counts;
        empty(q);
        renew(sch, &device, &counts);
    }
}

SEC("struct_ops/destroy")
void BPF_PROG(destroy, struct Qdisc *sch)
{
    u64 key = (u64)sch;
    struct qdisc *q = of(sch);
    if (q)
        empty(q);
    bpf_map_delete_elem(&qdiscs, &key);
}

/* Before the queue discipline: notes the ECN field for it, and sets CE for a mark that is owed. */
SEC("tc")
int mark(struct __sk_buff *skb)
{
    u32 ifindex = skb->ifindex;
    u64 *owed = bpf_map_lookup_elem(&marks, &ifindex);
    u8 head[2] = {};
    u32 ecn = 0;

    if (!owed)
        return -1; /* TCX_NEXT */
    bpf_skb_load_bytes_relative(skb, 0, head, sizeof(head), 1 /* BPF_HDR_START_NET */);
    if (head[0] >> 4 == 4)
        ecn = head[1] & 3;
    else if (head[0] >> 4 == 6)
        ecn = head[1] >> 4 & 3;
    skb->cb[0] = OWN;
    skb->cb[1] = ecn;
    if (ecn && ecn != CE && *owed) {
        if ((s64)__sync_fetch_and_add(owed, -1) > 0)
            bpf_skb_ecn_set_ce(skb);
        else
            __sync_fetch_and_add(owed, 1);
    }
    return -1;
}

SEC(".struct_ops")
struct Qdisc_ops ops = {
    .id = "aqm_" NAME,
    .enqueue = (void *)enqueue,
    .dequeue = (void *)dequeue,
    .init = (void *)init,
    .reset = (void *)reset,
    .destroy = (void *)destroy,
};
