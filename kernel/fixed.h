/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Fixed-point numbers: a kernel computes no floating point. "Q n" is an integer that counts 2^-n. */
#ifndef AQM_FIXED_H
#define AQM_FIXED_H

#include <stdbool.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define ONE(bits) (1ULL << (bits))
#define U64_MAX (~0ULL)
/* A global function: the verifier reads it once, for any arguments, and not at each call with what it knows there. */
#define GLOBAL __attribute__((noinline))
/* Of a pointer that a global function is given: it points to something. */
#ifdef __bpf__
#define GIVEN __attribute__((btf_decl_tag("arg:nonnull")))
#else
#define GIVEN
#endif
#define INLINE static inline __attribute__((always_inline, unused))

INLINE u64 least(u64 a, u64 b) { return a < b ? a : b; }
INLINE u64 most(u64 a, u64 b) { return a > b ? a : b; }
INLINE s64 clip(s64 x, s64 low, s64 high) { return x < low ? low : x > high ? high : x; }

/* a b / 2^shift, rounded down, for a shift below 64; U64_MAX if it is larger. BPF has no product of 128 bits. */
GLOBAL u64 mul_shift(u64 a, u64 b, u32 shift)
{
    u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
    u64 low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (u32)middle;
    u64 high = a1 * b1 + (middle >> 32) + (other >> 32);
    low = other << 32 | (u32)low;
    shift &= 63;
    if (shift == 0)
        return high ? U64_MAX : low;
    if (high >> shift)
        return U64_MAX;
    return high << (64 - shift) | low >> shift;
}

/* The same of a signed number, rounded towards zero; at most 2^61 in amount. */
INLINE s64 scale(s64 a, u64 b, u32 shift)
{
    s64 amount = least(mul_shift(a < 0 ? -(u64)a : (u64)a, b, shift), ONE(61));
    return a < 0 ? -amount : amount;
}

/* A digit of a quotient: of `rest` and the next 32 bits by b, which is above rest and has its leading bit set. */
INLINE u64 digit(u64 *rest, u32 next, u64 b)
{
    u64 b0 = (u32)b, b1 = b >> 32, found = *rest / b1, left = *rest - found * b1;
    for (int i = 0; i < 2 && !(left >> 32) && (found >> 32 || found * b0 > (left << 32 | next)); i++) {
        found--;
        left += b1;
    }
    *rest = (*rest << 32 | next) - found * b;
    return found;
}

/* a 2^shift / b, rounded down, for a shift below 64; U64_MAX if it is larger or b is 0. By Knuth's algorithm D. */
GLOBAL u64 div_shift(u64 a, u64 b, u32 shift)
{
    u64 high, low, found;
    u32 zeros;
    shift &= 63;
    high = shift ? a >> (64 - shift) : 0;
    low = a << shift;
    if (b <= high)
        return U64_MAX;
    if (!high)
        return low / b;
    zeros = __builtin_clzll(b) & 63;
    b <<= zeros;
    high = high << zeros | low >> 1 >> (63 - zeros);
    low <<= zeros;
    found = digit(&high, low >> 32, b);
    return found << 32 | digit(&high, low, b);
}

/* x^n with x, a Q 62 of at most 1; too low by at most n 2^-61. */
GLOBAL u64 power(u64 x, u64 n)
{
    u64 product = ONE(62);
    for (int i = 0; i < 64 && n; i++) {
        if (n & 1)
            product = mul_shift(product, x, 62);
        x = mul_shift(x, x, 62);
        n >>= 1;
    }
    return product;
}

/* The square root, rounded down, by Newton's method from above. It has no branches, which the verifier would follow. */
GLOBAL u64 root(u64 x)
{
    u64 y = ONE(32);
    if (!x)
        return 0;
    for (int i = 0; i < 40; i++)
        y = (y + x / y) >> 1;
    return y > x / y ? y - 1 : y;
}

/* log2 of x, a Q 32, as a signed Q 32; of 0, a number below all others. Each square of the mantissa yields a digit. */
GLOBAL s64 log2_q32(u64 x)
{
    s64 whole = 31;
    u64 digits = 0;
    if (!x)
        return -64 * (s64)ONE(32);
    for (int i = 0; i < 63 && !(x >> 63); i++) {
        x <<= 1;
        whole--;
    }
    x >>= 1;
    for (int i = 0; i < 32; i++) {
        x = mul_shift(x, x, 62);
        digits <<= 1;
        if (x >> 63) {
            x >>= 1;
            digits |= 1;
        }
    }
    return whole * (s64)ONE(32) + (s64)digits;
}

/* 2^(2^-1), 2^(2^-2), ... in Q 62. */
static const u64 roots_of_two[32] = {
    0x5a827999fcef3242, 0x4c1bf828c6dc54b8, 0x45cae0f1f545eb73, 0x42d561b3e6243d8a, 0x4166c34c5615d0ec,
    0x40b268f9de0183ba, 0x4058f6a7ecccd5b6, 0x402c6be96af2fb58, 0x4016321b687027a8, 0x400b18178ba33b14,
    0x40058bce410147e8, 0x4002c5d7bff71daf, 0x400162e807ee7e5b, 0x4000b1730df6a524, 0x400058b9497b8152,
    0x40002c5c955dd701, 0x4000162e46d6f26c, 0x40000b1722757b1b, 0x4000058b90fd3e0c, 0x400002c5c86f3f26,
    0x40000162e433c79b, 0x400000b17218edd0, 0x40000058b90c3968, 0x4000002c5c860d54, 0x400000162e4302d2,
    0x4000000b17218073, 0x400000058b90bffc, 0x40000002c5c85fef, 0x4000000162e42ff3, 0x40000000b17217f9,
    0x4000000058b90bfc, 0x400000002c5c85fe,
};

/* a 2^e, with e a signed Q 32, rounded down; U64_MAX if it is larger. */
GLOBAL u64 mul_exp2(u64 a, s64 e)
{
    s64 whole = e >> 32;
    u32 digits = (u32)e;
    u64 mantissa = ONE(62);
    for (u32 i = 0; i < 32; i++) {
        if (digits >> 31)
            mantissa = mul_shift(mantissa, roots_of_two[i], 62);
        digits <<= 1;
    }
    if (whole >= 0)
        return whole > 62 ? (a ? U64_MAX : 0) : mul_shift(a, mantissa, 62 - whole);
    return whole < -64 ? 0 : mul_shift(a, mantissa, 63) >> (-whole - 1);
}

/* 1 / ln 2, and so e^x = 2^(x / ln 2). */
#define LOG2_E_Q32 6196328019ULL
#define LN_2_Q62 3196577161300663915ULL

#endif
