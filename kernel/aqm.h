/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a law is written against: the contract of crates/aqm, in C and fixed point.
 *
 * A law is one file. It lists its numbers, PARAMS, and its signals, SIGNALS, each as X(name, n) for a Q n, or as
 * X(name, n, most) if its largest value is less than that of the catalogue. A number is a parameter or one that the
 * law's function `fixed` computes from them (crates/aqm/src). The law declares `struct params` and `struct state`,
 * which begin with them, and defines
 *
 *     start        sets the state at the beginning;
 *     on_enqueue   returns the verdict on an arrival, which `random`, uniform on 32 bits, decides;
 *     on_dequeue   if LAW_DEQUEUES, returns that on a packet about to be sent;
 *     on_idle      if LAW_IDLES, is told when the link has become idle, also after an arrival that was dropped, and if
 *                  LAW_BEGINS_IDLE, at the beginning, too;
 *     on_period    if LAW_PERIOD, the name of the number with the period in ns or 0 for none, or LAW_EVERY, that period
 *                  if it is constant, performs n > 0 periodic updates, the last one at `now`, between which nothing
 *                  arrived or left.
 *
 * It ends with #include "host.h", which makes of it a queue discipline for the kernel, or functions for a test.
 */
#ifndef AQM_H
#define AQM_H

#include "fixed.h"

enum verdict { PASS, MARK, DROP };

struct packet {
    u32 size; /* bytes */
    u32 flow; /* equal for all packets of a connection in one direction */
    u32 pair; /* equal for all packets from one host to another; of a law with lanes only, as the next two and the class */
    bool udp;
    u8 lane; /* what `lane` returned */
    bool ect; /* its transport is ECN-capable */
    bool ce; /* it is marked already */
    u64 class; /* of service, 1 to 4, by the precedence in its DSCP: 1 for 7 and 6, 4 for 1 and 0 */
} __attribute__((aligned(8)));

/*
 * What waits, without the packet that is being sent. A law that keeps LAW_LANES queues is given 1 + LAW_LANES of
 * these, of the whole and of each lane, and defines `lane`, the lane of an arrival, and `serve`, that of the next
 * packet to be sent.
 *
 * It may also drop packets that wait: LAW_EVICTS is then an expression, whether the first packet of a lane is dropped or
 * the last one. Each function returns that lane, or LAW_LANES for none, and is called again until then:
 *
 *     make_room    if the buffer has no room for an arrival, before `on_enqueue`; the arrival is `full` if it returns
 *                  none;
 *     evict        after the arrival, which then waits or has been dropped.
 */
struct backlog {
    u64 packets;
    u64 bytes;
    bool full; /* the arrival has no room, and is dropped whatever the verdict */
#ifdef LAW_EVICTS
    u64 since; /* of a lane: when its first packet came, and the bytes of that and of the last one */
    u32 first, last;
#endif
};

/* The length in packets or, in byte mode, in packets of `mean` bytes, as a Q 32. More than 2^30 do not count. */
INLINE s64 length(const struct backlog *queue, bool bytes, u64 mean)
{
    return least(bytes ? queue->bytes : queue->packets, ONE(30)) * ONE(32) / (bytes ? mean : 1);
}

/* A number as a field, and as the text from which the loader knows it. */
#define AQM_FIELD(name, bits, ...) s64 name;
#define AQM_TEXT(name, bits, ...) #name ":" #bits ":" #__VA_ARGS__ " "

/* Whether something of this probability, in Q 32, happens. */
INLINE bool happens(u64 p, u32 random) { return random < p; }

INLINE enum verdict signal(bool markable) { return markable ? MARK : DROP; }

#endif
