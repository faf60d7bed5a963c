/*
 * What becomes of each packet under the algorithm of crates/aqm, by libaqm: prints the fates.
 * usage: expected ALGORITHM RATE PACKETS ARRIVALS
 */
#include "aqm.h"
#include "arrivals.h"

static double number;

static double given(void *context) { return number; }

int main(int argc, char **argv)
{
    size_t n;
    char *fates, message[1024];
    struct arrival *all = arrivals(argv[4], &n, &fates);
    aqm_port port = {.rate = strtoull(argv[2], 0, 10), .packets = atoi(argv[3])};
    aqm_caller caller = {.random = given};
    aqm_queue *queue = aqm_new(argv[1], &port, 0, &caller, message, sizeof(message));
    uint64_t last = 0, free_at = 0;
    bool idle = true;

    if (!queue)
        errx(1, "%s", message);
    /* The clock of both begins at zero, and with it the periods. */
    aqm_dequeue(queue, 0, 0);
    for (size_t i = 0; i <= n; i++) {
        uint64_t until = i < n ? all[i].at : UINT64_MAX, now;
        /* A packet that could leave as another arrives leaves after it. */
        while (aqm_packets(queue) && (now = free_at > last ? free_at : last) < until) {
            uint8_t ecn;
            struct arrival *sent = aqm_dequeue(queue, now, &ecn);
            if (!sent) {
                idle = true;
                break;
            }
            free_at = now + (sent->size * 8000000000ULL + port.rate - 1) / port.rate;
            fates[sent - all] = ecn == 3 && sent->ecn != 3 ? MARKED : DELIVERED;
        }
        if (i == n)
            break;
        aqm_header header = {.flow = all[i].flow, .size = all[i].size, .ecn = all[i].ecn};
        if (!idle && !aqm_packets(queue) && free_at <= until)
            aqm_dequeue(queue, free_at, 0);
        last = until;
        number = all[i].random / 4294967296.0;
        idle = !aqm_enqueue(queue, last, &header, &all[i]) && !aqm_packets(queue) && free_at <= last;
    }
    aqm_free(queue);
    puts(fates);
    return 0;
}
