/* CoDel in front of a link of 10 Mbit/s to which a program sends 4 % more than fits, for 23 seconds of its own clock.
 *
 *     cc codel.c $(pkg-config --cflags --libs aqm) -o codel && ./codel
 */
#include <aqm.h>
#include <stdio.h>
#include <stdlib.h>

struct packet {
    uint64_t arrived;
    uint32_t size;
};

static void drop(void *context, void *packet, bool full) {
    (void)full;
    ++*(unsigned *)context;
    free(packet);
}

int main(void) {
    unsigned dropped = 0, sent = 0;
    uint64_t waited = 0;
    char message[200];
    aqm_port port = {.rate = 10000000, .packets = 1000};
    aqm_caller caller = {.context = &dropped, .drop = drop};
    aqm_queue *queue = aqm_new("codel:target=5ms,interval=100ms", &port, 1, &caller, message, sizeof message);
    if (queue == NULL) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    uint64_t now = 0, free_at = 0;
    for (unsigned number = 0; number < 20000; number++, now += 1150000) {
        struct packet *packet = malloc(sizeof *packet);
        *packet = (struct packet){.arrived = now, .size = 1500};
        aqm_header header = {.size = packet->size};
        aqm_enqueue(queue, now, &header, packet);
        /* 1500 bytes take 1.2 ms on the link. */
        for (; free_at <= now; free_at += 1200000) {
            if ((packet = aqm_dequeue(queue, now, NULL)) == NULL) continue;
            waited += now - packet->arrived;
            sent++;
            free(packet);
        }
    }
    aqm_free(queue); /* drops what waits */
    printf("%u sent, %u dropped, mean wait %.1f ms\n", sent, dropped, waited / 1e6 / sent);
    return 0;
}
