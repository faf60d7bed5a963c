/* The time that a packet costs in an event loop of C: PACKETS of 128 flows arrive with random gaps under each ALGORITHM,
 * 2 % more than the link can send. Of nine rounds, in each of which all take turns, the least and the median are printed,
 * less those of the loop without a queue.
 *
 *     ./cost 1000000 codel fq_codel
 *
 * With Linux's own CoDel beside ours, as the algorithm "kernel", from a kernel's source:
 *
 *     grep -hv '#include' $SOURCE/include/net/codel.h $SOURCE/include/net/codel_impl.h > codel_kernel.h
 *     cc -O2 -DKERNEL -I. cost.c kernel.c $(pkg-config --cflags --libs aqm) -o cost
 */
#define _POSIX_C_SOURCE 199309L
#include <aqm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef KERNEL
void kernel_reset(void);
void kernel_enqueue(uint64_t now, uint32_t size, uint8_t ecn);
void kernel_dequeue(uint64_t now);
uint64_t kernel_dropped(void);
#else
static void kernel_reset(void) {}
static void kernel_enqueue(uint64_t now, uint32_t size, uint8_t ecn) { (void)now, (void)size, (void)ecn; }
static void kernel_dequeue(uint64_t now) { (void)now; }
static uint64_t kernel_dropped(void) { return 0; }
#endif

enum { ROUNDS = 9, MOST = 64 };
enum kind { NONE, OURS, THEIRS };

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

/* Sends packets through a queue, or only makes them; returns ns a packet. */
static double cost(enum kind kind, aqm_queue *queue, unsigned packets) {
    double start = seconds();
    uint64_t now = 0, free_at = 0;
    uint32_t draw = 1;
    for (unsigned number = 1; number <= packets; number++) {
        draw = draw * 1664525 + 1013904223;
        now += draw >> 8 & 0x3ffff; /* 131 us on average */
        aqm_header header = {.size = 1500, .flow = draw >> 25, .ecn = 2};
        __asm__ volatile("" : : "r"(&header) : "memory"); /* as if it were used */
        if (kind == OURS) aqm_enqueue(queue, now, &header, (void *)(uintptr_t)number);
        if (kind == THEIRS) kernel_enqueue(now, header.size, header.ecn);
        for (; free_at <= now; free_at += 133693) { /* 1500 bytes at 90 Mbit/s */
            if (kind == OURS) aqm_dequeue(queue, now, NULL);
            if (kind == THEIRS) kernel_dequeue(now);
        }
    }
    return (seconds() - start) * 1e9 / packets;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **arguments) {
    unsigned packets = count > 2 ? strtoul(arguments[1], NULL, 10) : 0;
    if (packets == 0 || count - 2 >= MOST) {
        fprintf(stderr, "usage: cost PACKETS ALGORITHM...\n");
        return 2;
    }
    aqm_port port = {.rate = 89758000, .packets = 1000};
    static double times[MOST][ROUNDS];
    uint64_t dropped[MOST] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        times[0][round] = cost(NONE, NULL, packets);
        for (int i = 2; i < count; i++) {
            if (strcmp(arguments[i], "kernel") == 0) {
                kernel_reset();
                times[i - 1][round] = cost(THEIRS, NULL, packets);
                dropped[i - 1] = kernel_dropped();
                continue;
            }
            char message[200];
            aqm_queue *queue = aqm_new(arguments[i], &port, 1, NULL, message, sizeof message);
            if (queue == NULL) {
                fprintf(stderr, "%s\n", message);
                return 1;
            }
            times[i - 1][round] = cost(OURS, queue, packets);
            aqm_counts counts = aqm_count(queue);
            dropped[i - 1] = counts.drops_early + counts.drops_full;
            aqm_free(queue);
        }
    }
    for (int i = 1; i < count; i++) qsort(times[i - 1], ROUNDS, sizeof(double), by_size);
    for (int i = 2; i < count; i++)
        printf("%-24s %6.1f ns least %6.1f ns median %8llu dropped\n", arguments[i], times[i - 1][0] - times[0][0],
               times[i - 1][ROUNDS / 2] - times[0][ROUNDS / 2], (unsigned long long)dropped[i - 1]);
    return 0;
}
