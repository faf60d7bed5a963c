/*
 * What becomes of each packet under the algorithm of crates/aqm, by libaqm: prints how many it dropped early, and the fates.
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
    uint64_t free_at = 0, last = 0;
    bool idle = false;

    if (!queue)
        errx(1, "%s", message);
    for (size_t i = 0; i <= n; i++) {
        /* What the link does after the last arrival and before the next; of simultaneous events the arrival is first. */
        uint64_t until = i < n ? all[i].at : UINT64_MAX, now;
        while (!idle && (now = free_at > last ? free_at : last) < until) {
            uint8_t ecn;
            struct arrival *sent = aqm_dequeue(queue, now, &ecn);
            idle = !sent;
            if (idle)
                break;
            free_at = now + (sent->size * 8000000000ULL + port.rate - 1) / port.rate;
            fates[sent - all] = ecn == 3 && sent->ecn != 3 ? MARKED : DELIVERED;
        }
        if (i == n)
            break;
        aqm_header header = {.flow = all[i].flow, .source = all[i].flow, .size = all[i].size, .ecn = all[i].ecn, .udp = true};
        number = all[i].random / 4294967296.0;
        last = until;
        aqm_enqueue(queue, last, &header, &all[i]);
        idle = false;
    }
    printf("%llu\n%s\n", (unsigned long long)aqm_count(queue).drops_early, fates);
    aqm_free(queue);
    return 0;
}
