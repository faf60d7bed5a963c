/*
 * Sends packets through a queue discipline of this kernel, compiled with AQM_SCRIPT, and prints what became of each:
 * a line of JSON with the loading, then a line of fates. Of the devices va0 and vb0, two ends of a cable, the first has it.
 * usage: replay OBJECT DISCIPLINE DEVICE ARRIVALS    DEVICE is a file with the value of the map `devices`
 */
#define _GNU_SOURCE
#include "arrivals.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <time.h>

#define HEADERS (14 + sizeof(struct iphdr) + sizeof(struct udphdr))
#define MOST 65536
#define BATCH 64

static const char *const FROM = "va0", *const TO = "vb0";

struct frame {
    uint8_t to[6], from[6];
    uint16_t type;
    struct iphdr ip;
    struct udphdr udp;
    uint32_t number;
} __attribute__((packed));

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static unsigned instructions(struct bpf_object *object, const char *name)
{
    struct bpf_prog_info info = {};
    uint32_t size = sizeof(info);
    if (bpf_obj_get_info_by_fd(bpf_program__fd(bpf_object__find_program_by_name(object, name)), &info, &size))
        err(1, "%s", name);
    return info.verified_insns;
}

/* The map `script`: the times and random numbers, then a time that never comes. */
static void script(struct bpf_object *object, const struct arrival *all, size_t n)
{
    struct bpf_map *map = bpf_object__find_map_by_name(object, "script");
    uint32_t *keys = calloc(n + 1, sizeof(*keys)), count = n + 1;
    uint64_t(*values)[2] = calloc(n + 1, sizeof(*values));
    for (size_t i = 0; i <= n; i++) {
        keys[i] = i;
        values[i][0] = i < n ? all[i].at : UINT64_MAX;
        values[i][1] = i < n ? all[i].random : 0;
    }
    if (!map || bpf_map_update_batch(bpf_map__fd(map), keys, values, &count, 0))
        err(1, "the map script");
}

static struct bpf_object *loaded(const char *name, const char *device, struct bpf_link **registered)
{
    size_t size;
    uint32_t any = 0;
    void *value = whole(device, &size);
    double begun = seconds();
    struct bpf_object *object = bpf_object__open_file(name, 0);
    if (!object || bpf_object__load(object) ||
        !(*registered = bpf_map__attach_struct_ops(bpf_object__find_map_by_name(object, "ops"))))
        err(1, "%s", name);
    printf("{\"seconds\": %.3f, \"enqueue\": %u, \"dequeue\": %u}\n", seconds() - begun,
           instructions(object, "enqueue"), instructions(object, "dequeue"));
    if (bpf_map__update_elem(bpf_object__find_map_by_name(object, "devices"), &any, sizeof(any), value, size, 0))
        err(1, "the map devices, with %zu bytes", size);
    return object;
}

static void tc(const char *format, const char *word)
{
    char command[256] = "tc qdisc ";
    snprintf(command + strlen(command), sizeof(command) - strlen(command), format, FROM, word);
    if (system(command))
        errx(1, "%s failed", command);
}

static int socket_at(const char *device, int protocol, int option)
{
    struct sockaddr_ll where = {.sll_family = AF_PACKET, .sll_protocol = protocol, .sll_ifindex = if_nametoindex(device)};
    int made = socket(AF_PACKET, SOCK_RAW, protocol), room = 64 << 20;
    if (made < 0 || setsockopt(made, SOL_SOCKET, option, &room, sizeof(room)) ||
        bind(made, (struct sockaddr *)&where, sizeof(where)))
        err(1, "%s", device);
    return made;
}

static void send_all(int outlet, const struct arrival *all, size_t from, size_t until)
{
    static uint8_t bytes[BATCH][MOST];
    struct iovec parts[BATCH];
    struct mmsghdr messages[BATCH] = {};
    size_t n = until - from;
    for (size_t i = 0; i < n; i++) {
        const struct arrival *each = &all[from + i];
        *(struct frame *)bytes[i] = (struct frame){
            .to = {2, 0, 0, 0, 0, 2},
            .from = {2, 0, 0, 0, 0, 1},
            .type = htons(0x0800),
            .ip = {.version = 4, .ihl = 5, .tos = each->ecn, .tot_len = htons(each->size - 14), .ttl = 64, .protocol = 17,
                   .saddr = htonl(0x0a000100 + each->flow), .daddr = htonl(0x0a000002)},
            .udp = {.source = htons(1000 + each->flow), .dest = htons(9), .len = htons(each->size - 34)},
            .number = from + i,
        };
        parts[i] = (struct iovec){bytes[i], each->size};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    }
    /* A packet for which there is no room is an error, and ends the call, which counts those before it. */
    for (size_t done = 0; done < n; done++) {
        int sent = sendmmsg(outlet, messages + done, n - done, 0);
        if (sent < 0 && errno != ENOBUFS)
            err(1, "packet %zu", from + done);
        done += sent < 0 ? 0 : sent;
    }
}

static void receive_all(int inlet, const struct arrival *all, size_t n, char *fates)
{
    static struct frame frames[BATCH];
    struct iovec parts[BATCH];
    struct mmsghdr messages[BATCH] = {};
    int got;
    for (size_t i = 0; i < BATCH; i++) {
        parts[i] = (struct iovec){&frames[i], sizeof(frames[i])};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    }
    while ((got = recvmmsg(inlet, messages, BATCH, MSG_DONTWAIT, 0)) > 0)
        for (int i = 0; i < got; i++) {
            uint32_t number = frames[i].number;
            if (number >= n || fates[number] != LOST)
                errx(1, "packet %u came twice, or was never sent", number);
            fates[number] = (frames[i].ip.tos & 3) == 3 && all[number].ecn != 3 ? MARKED : DELIVERED;
        }
}

int main(int argc, char **argv)
{
    size_t n;
    char *fates;
    struct bpf_link *registered;
    struct arrival *all = arrivals(argv[4], &n, &fates);
    struct bpf_object *object = loaded(argv[1], argv[3], &registered);
    int outlet = socket_at(FROM, 0, SO_SNDBUFFORCE), inlet = socket_at(TO, htons(0x0800), SO_RCVBUFFORCE);
    script(object, all, n);
    tc("replace dev %s root %s", argv[2]);
    for (size_t i = 0; i < n; i += BATCH) {
        send_all(outlet, all, i, i + BATCH < n ? i + BATCH : n);
        receive_all(inlet, all, n, fates);
    }
    puts(fates);
    /* The next one may have the same name. */
    tc("del dev %s root", "");
    bpf_link__destroy(registered);
    return 0;
}
