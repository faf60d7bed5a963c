/*
 * A transport of your own in aqmlab: a shared library that exports aqmlab_stack(), for traffic of kind "stack".
 *
 * A stack is one end of a connection without a clock or a socket. The engine calls it with the time in ns, hands it the
 * datagrams that arrive, and carries those that it sends over the scenario's links. Both ends are made by the same library.
 * Ends of several runs may be in use at once, each in one thread at a time. The same calls must have the same effects in
 * every run: draw random numbers from the seed, and ask no clock.
 */
#ifndef AQMLAB_STACK_H
#define AQMLAB_STACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* It rises when this header changes in a way that libraries notice. */
#define AQMLAB_STACK_VERSION 1

/* No time; a size without end. */
#define AQMLAB_NEVER UINT64_MAX

/* The two ECN bits of a datagram. */
enum { AQMLAB_NOT_ECT = 0, AQMLAB_ECT1 = 1, AQMLAB_ECT0 = 2, AQMLAB_CE = 3 };

/* The end that is to be made. */
typedef struct aqmlab_wanted {
    /* The bytes to download; AQMLAB_NEVER if the download has no end. */
    uint64_t size;
    /* The scenario's `options`, which are valid during the call. */
    const char *options;
    /* The most bytes of a datagram, without the headers of UDP and IP. */
    uint32_t payload;
    /* 1 if it sends the data, 0 if it asks for it. */
    uint32_t sends;
    /* What the random numbers of this connection follow from; the same for both ends. */
    uint8_t seed[32];
} aqmlab_wanted;

/* What an end has counted since its start, and its state now. Those that it does not know are zero. */
typedef struct aqmlab_state {
    /* Bytes that the application has received, in order. */
    uint64_t delivered;
    /* Packets that the sender took for lost; the count never falls. */
    uint64_t lost;
    /* Congestion window and slow-start threshold in bytes. */
    uint64_t window;
    uint64_t threshold;
    /* The smoothed round-trip time in ns; zero before the first measurement. */
    uint64_t smoothed_rtt;
    /* 1 if the application has received all that there was. */
    uint32_t complete;
} aqmlab_state;

/* Sends a datagram now. The context is that of the call of poll(); the payload may be reused afterwards. */
typedef void (*aqmlab_send)(void *context, const uint8_t *payload, size_t length, int ecn);

typedef struct aqmlab_stack_functions {
    /* AQMLAB_STACK_VERSION. */
    uint32_t version;
    /* Makes an end. Returns null if it cannot, with a sentence in `problem`, which has `room` bytes with its zero. */
    void *(*make)(const aqmlab_wanted *wanted, char *problem, size_t room);
    /* A datagram has arrived. */
    void (*recv)(void *end, uint64_t now, const uint8_t *payload, size_t length, int ecn);
    /*
     * Acts at its time, and sends. Called at the start, after recv() and stop(), and at the time of timeout(). Returns 0, or
     * another number if the connection cannot go on, with a sentence in `problem`.
     */
    int (*poll)(void *end, uint64_t now, aqmlab_send send, void *context, char *problem, size_t room);
    /* When it is to be polled if no datagram comes before, later than the last poll(); or AQMLAB_NEVER. */
    uint64_t (*timeout)(void *end);
    /* The application has nothing more to send. */
    void (*stop)(void *end);
    /* Fills in the state, whose bytes are zero before. */
    void (*state)(void *end, aqmlab_state *state);
    /* The next of the round-trip times in ns that were measured since the last call, each once, or AQMLAB_NEVER. May be null. */
    uint64_t (*round_trip)(void *end);
    /* Frees an end. */
    void (*release)(void *end);
} aqmlab_stack_functions;

/* What a library exports; the functions stay where they are. */
const aqmlab_stack_functions *aqmlab_stack(void);

#ifdef __cplusplus
}
#endif
#endif
