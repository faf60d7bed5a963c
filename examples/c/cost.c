/* The time that a packet costs in an event loop of C: PACKETS of 128 flows arrive with random gaps under each ALGORITHM, 2 %
 * more than the link can send. The least of nine rounds is printed, less that of the loop without a queue.
 *
 *     ./cost 1000000 codel fq_codel
 */
#define _POSIX_C_SOURCE 199309L
#include <aqm.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

/* Sends packets through a queue, or only makes them; returns ns a packet. */
static double cost(aqm_queue *queue, unsigned packets) {
    double start = seconds();
    uint64_t now = 0, free_at = 0;
    uint32_t draw = 1;
    for (unsigned number = 1; number <= packets; number++) {
        draw = draw * 1664525 + 1013904223;
        now += draw >> 8 & 0x3ffff; /* 131 us on average */
        aqm_header header = {.size = 1500, .flow = draw >> 25, .ecn = 2};
        __asm__ volatile("" : : "r"(&header) : "memory"); /* as if it were used */
        if (queue != NULL) aqm_enqueue(queue, now, &header, (void *)(uintptr_t)number);
        for (; free_at <= now; free_at += 133693) /* 1500 bytes at 90 Mbit/s */
            if (queue != NULL) aqm_dequeue(queue, now, NULL);
    }
    return (seconds() - start) * 1e9 / packets;
}

int main(int count, char **arguments) {
    unsigned packets = count > 2 ? strtoul(arguments[1], NULL, 10) : 0;
    if (packets == 0) {
        fprintf(stderr, "usage: cost PACKETS ALGORITHM...\n");
        return 2;
    }
    aqm_port port = {.rate = 89758000, .packets = 1000};
    for (int i = 2; i < count; i++) {
        double least = 1e9, bare = 1e9;
        for (int round = 0; round < 9; round++) {
            char message[200];
            aqm_queue *queue = aqm_new(arguments[i], &port, 1, NULL, message, sizeof message);
            if (queue == NULL) {
                fprintf(stderr, "%s\n", message);
                return 1;
            }
            double without = cost(NULL, packets), with = cost(queue, packets);
            bare = without < bare ? without : bare;
            least = with < least ? with : least;
            aqm_free(queue);
        }
        printf("%-24s %6.1f ns\n", arguments[i], least - bare);
    }
    return 0;
}
