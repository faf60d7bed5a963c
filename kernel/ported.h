/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What laws are written in that `aqmlab port --to bpf` makes of classes in Python.
 *
 * A whole number is an s64. A number with a fraction is a signed Q 32 in an s64, between -2^31 and 2^31: each operation
 * is rounded to the nearest 2^-32, and beyond the range it is the nearest end of the range.
 */
#ifndef AQM_PORTED_H
#define AQM_PORTED_H

#define S64_MAX ((s64)(U64_MAX >> 1))
#define Q(x) ((s64)((x) * 4294967296.0 + ((x) < 0 ? -0.5 : 0.5))) /* a constant */
#define LN2_Q32 2977044472LL

/* Periodic updates that are performed at once after a silence; of more, the others are not performed. */
#define PERIODS 1024

struct update {
    struct state *s;
    const struct params *k;
    u64 now;
    const struct backlog *queue;
};

/* Calls `function` n times, and lets the verifier read it once: bpf_loop. */
#ifdef __bpf__
static long (*const repeat)(u32 n, long (*function)(u64, struct update *), struct update *given, u64 flags) = (void *)181;
#define SATURATED
#else
INLINE void repeat(u32 n, long (*function)(u64, struct update *), struct update *given, u64 flags)
{
    for (u32 i = 0; i < n; i++)
        function(i, given);
}
/* For the comparison with the class: how often a number has left the range. */
static u64 saturated;
#define SATURATED saturated++
__attribute__((visibility("default"))) u64 aqm_saturated(void) { return saturated; }
#endif

INLINE u64 magnitude(s64 a) { return a < 0 ? -(u64)a : (u64)a; }
INLINE u64 half(u64 a) { return (a >> 1) + (a & 1); }

INLINE s64 with_sign(bool negative, u64 a)
{
    if (a > (u64)S64_MAX) {
        SATURATED;
        a = S64_MAX;
    }
    return negative ? -(s64)a : (s64)a;
}

INLINE s64 min_of(s64 a, s64 b) { return b < a ? b : a; }
INLINE s64 max_of(s64 a, s64 b) { return b > a ? b : a; }
INLINE s64 abs_of(s64 a) { return a < 0 ? -a : a; }

/* The product of two numbers, of which one at least is whole. */
GLOBAL s64 mul(s64 a, s64 b)
{
    return with_sign((a < 0) != (b < 0), mul_shift(magnitude(a), magnitude(b), 0));
}

/* The quotient of two numbers of one kind, rounded down, and the rest, which has the sign of b. */
GLOBAL s64 floor_div(s64 a, s64 b)
{
    u64 whole;
    if (!b)
        return 0;
    whole = magnitude(a) / magnitude(b);
    if ((a < 0) == (b < 0))
        return with_sign(false, whole);
    return -(s64)whole - (whole * magnitude(b) != magnitude(a));
}

GLOBAL s64 floor_mod(s64 a, s64 b)
{
    u64 rest = b ? magnitude(a) % magnitude(b) : 0;
    if (rest && (a < 0) != (b < 0))
        rest = magnitude(b) - rest;
    return b < 0 ? -(s64)rest : (s64)rest;
}

/* a^n of whole numbers, for n below 64. */
GLOBAL s64 whole_power(s64 a, u32 n)
{
    s64 found = 1;
    for (int i = 0; i < 6; i++, n >>= 1) {
        if (n & 1)
            found = mul(found, a);
        if (n > 1)
            a = mul(a, a);
    }
    return found;
}

/* A whole number as one with a fraction. */
INLINE s64 fx(s64 whole)
{
    if (whole >= (s64)ONE(31) || whole < -(s64)ONE(31)) {
        SATURATED;
        return whole < 0 ? -S64_MAX : S64_MAX;
    }
    return whole * (s64)ONE(32);
}

INLINE s64 fx_add(s64 a, s64 b)
{
    s64 sum;
    if (!__builtin_add_overflow(a, b, &sum) && sum >= -S64_MAX)
        return sum;
    SATURATED;
    return b < 0 ? -S64_MAX : S64_MAX;
}

INLINE s64 fx_sub(s64 a, s64 b) { return fx_add(a, -b); }

GLOBAL s64 fx_mul(s64 a, s64 b)
{
    return with_sign((a < 0) != (b < 0), half(mul_shift(magnitude(a), magnitude(b), 31)));
}

/* The quotient of two numbers of one kind. */
GLOBAL s64 fx_div(s64 a, s64 b)
{
    return with_sign((a < 0) != (b < 0), half(div_shift(magnitude(a), magnitude(b), 33)));
}

/* A number with a fraction by a whole one, and the reverse. */
GLOBAL s64 fx_div_whole(s64 a, s64 whole)
{
    return with_sign((a < 0) != (whole < 0), half(div_shift(magnitude(a), magnitude(whole), 1)));
}

GLOBAL s64 whole_div_fx(s64 whole, s64 b)
{
    u64 a = magnitude(whole), by = magnitude(b), found = div_shift(a, by, 63), rest = (a << 63) - found * by;
    /* Two digits more, of which the last one rounds. */
    for (int i = 0; i < 2; i++) {
        if (found >> 63)
            return with_sign((whole < 0) != (b < 0), U64_MAX);
        found = found << 1 | (rest << 1 >= by);
        rest = (rest << 1) - (rest << 1 >= by ? by : 0);
    }
    return with_sign((whole < 0) != (b < 0), half(found));
}

INLINE s64 fx_floor(s64 a) { return a >> 32; }
INLINE s64 fx_ceil(s64 a) { return -(-a >> 32); }
INLINE s64 fx_int(s64 a) { return a < 0 ? fx_ceil(a) : fx_floor(a); }

/* To the nearest whole number, and to the even one of two. */
INLINE s64 fx_round(s64 a)
{
    s64 whole = a >> 32;
    u64 rest = (u32)a;
    return whole + (rest + (whole & 1) > ONE(31));
}

/* Seconds as nanoseconds, and the reverse. */
INLINE s64 nanoseconds(s64 a) { return with_sign(a < 0, half(mul_shift(magnitude(a), 1000000000, 31))); }
INLINE s64 seconds(s64 ns) { return fx_div(ns, 1000000000); }

GLOBAL s64 fx_power(s64 a, u32 n)
{
    s64 found = ONE(32);
    for (int i = 0; i < 6; i++, n >>= 1) {
        if (n & 1)
            found = fx_mul(found, a);
        if (n > 1)
            a = fx_mul(a, a);
    }
    return found;
}

/* The square root; that of the leading 64 bits has 32 itself, and a step of Newton's method the rest. */
GLOBAL s64 fx_sqrt(s64 a)
{
    u64 near, x = a;
    u32 shift;
    if (a <= 0)
        return 0;
    shift = __builtin_clzll(x) & 62;
    near = root(x << shift) << 16 >> (shift / 2);
    return half(near + div_shift(a, near, 32));
}

/* The natural logarithm, of 0 a number below all others. */
INLINE s64 fx_log(s64 a) { return fx_mul(log2_q32(a > 0 ? a : 0), LN2_Q32); }
GLOBAL s64 fx_exp(s64 a) { return with_sign(false, mul_exp2(ONE(32), fx_mul(a, LOG2_E_Q32))); }

/* a^b of a number that is not negative. */
GLOBAL s64 fx_pow(s64 a, s64 b)
{
    if (!b)
        return ONE(32);
    return a > 0 ? with_sign(false, mul_exp2(ONE(32), fx_mul(log2_q32(a), b))) : 0;
}

/* The index of an element, of an array of n; negative ones count from the end. */
INLINE u64 at(s64 index, u32 n)
{
    u64 found = index < 0 ? index + n : index;
    /* What is compared must be what is used, for the verifier to know its range: a compiler finds other ways. */
    asm volatile("" : "+r"(found));
    return found < n ? found : 0;
}

/* A verdict that was computed: a packet that is not ECN-capable is dropped in place of marked. */
INLINE enum verdict judged(s64 verdict, const struct packet *packet)
{
    return verdict == MARK ? signal(packet->ect) : verdict == DROP ? DROP : PASS;
}

#endif
