/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * AVQ: drops or marks when a virtual queue, which is served more slowly than the real one, overflows.
 * The law, its sources and its parameters: crates/aqm/src/aqm/avq.rs.
 *
 * Departures: the virtual queue is counted in the time that the link needs for it, in ns, and rounded to 2^-24; the
 * virtual capacity is a fraction of the link's, rounded to 2^-60.
 */
#include "aqm.h"

#define NAME "avq"
/*
 * `unit` is the time in ns that the link needs for a byte or a packet, `packets` is packets per ns, and `rise` and
 * `fall` are alpha gamma and alpha per 2^20 ns.
 */
#define PARAMS(X) \
    X(form, 0) X(initial, 60) X(bytes, 0) X(ecn, 0) X(unit, 32) X(packets, 60) X(buffer, 24) X(rise, 60) X(fall, 60)
#define SIGNALS(X) X(vq, 32) X(capacity, 60)

enum form { PAPER, NS2 };

struct params { PARAMS(AQM_FIELD) };

struct state {
    SIGNALS(AQM_FIELD)
    u64 waiting; /* the virtual queue, Q 24 */
    u64 arrived; /* when the last packet arrived */
    u64 counted; /* when the last one came that the capacity counts */
    bool has_counted;
};

static void start(struct state *s, const struct params *k) { s->capacity = k->initial; }

static enum verdict refusal(const struct params *k, const struct packet *packet)
{
    return k->form == NS2 && k->ecn && !packet->ect ? PASS : signal(k->ecn && packet->ect);
}

/* Adapts the capacity to an arrival that takes the link `work` ns (Q 24), `passed` ns after the last one. */
static void adapt(struct state *s, const struct params *k, u64 work, u64 passed)
{
    u64 up = s->capacity + least(mul_shift(k->rise, passed, 20), ONE(61)), down = mul_shift(k->fall, work, 44);
    if (k->form == PAPER)
        up = least(up, ONE(60));
    s->capacity = up > down ? least(up - down, ONE(60)) : 0;
}

static enum verdict on_enqueue(struct state *s, const struct params *k, u64 now, const struct packet *packet,
                               const struct backlog *queue, u32 random)
{
    u64 work = least(mul_shift(k->unit, k->bytes ? packet->size : 1, 8), ONE(63));
    u64 served = mul_shift(s->capacity, now - s->arrived, 36);
    enum verdict verdict = PASS;
    if (!s->has_counted)
        s->counted = now;
    s->has_counted = true;
    s->waiting = s->waiting > served ? s->waiting - served : 0;
    s->arrived = now;
    if (s->waiting + work > (u64)k->buffer)
        verdict = refusal(k, packet);
    else
        s->waiting += work;
    if (k->form == PAPER || verdict != DROP) {
        adapt(s, k, work, now - s->counted);
        s->counted = now;
    }
    s->vq = mul_shift(s->waiting, k->packets, 52);
    return verdict;
}

#include "host.h"
