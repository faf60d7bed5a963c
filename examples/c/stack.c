/*
 * A small transport for traffic of kind "stack": numbered datagrams, an answer to each, slow start and AIMD.
 *
 *   cc -O2 -shared -fPIC -I python/aqmlab/include examples/c/stack.c -o stack.so
 *
 *   [[traffic]]
 *   kind = "stack"
 *   file = "stack.so"
 *   options = "beta=0.7"
 */
#include <aqmlab_stack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROOM = 1 << 16, /* datagrams of which the sender, and pieces of which the receiver remembers something */
    HEAD = 16,      /* the number of the datagram and the number of the piece in it */
    REORDER = 3,    /* datagrams that may overtake one before it counts as lost */
};
static const uint64_t SECOND = 1000000000, LEAST_TIMEOUT = 200000000;

struct sent {
    uint64_t piece, at;
    int under_way;
};

struct end {
    int sends, is_asked, answers;
    uint64_t payload, size, pieces; /* pieces of payload - HEAD bytes */
    uint64_t next;            /* number of the next datagram, or the piece that the receiver's application waits for */
    uint64_t timeout, rtt;
    /* The sender. */
    uint64_t fresh, under_way, oldest, recovery, measured;
    double window, threshold, beta;
    struct sent sent[ROOM];
    uint64_t again[ROOM], first, last; /* pieces to be sent again */
    aqmlab_state state;
    /* The receiver. */
    unsigned char has[ROOM], answer[HEAD + 1];
};

static void *make(const aqmlab_wanted *wanted, char *problem, size_t room)
{
    double beta = 0.5;
    if (wanted->options[0] && (sscanf(wanted->options, "beta=%lf", &beta) != 1 || beta <= 0 || beta >= 1)) {
        snprintf(problem, room, "options: beta=B with 0 < B < 1 is all that it knows");
        return NULL;
    }
    struct end *end = wanted->payload > HEAD ? calloc(1, sizeof *end) : NULL;
    if (!end) {
        snprintf(problem, room, "no memory, or no room for data in %u bytes", wanted->payload);
        return NULL;
    }
    uint64_t piece = wanted->payload - HEAD;
    end->sends = wanted->sends;
    end->payload = wanted->payload;
    end->size = wanted->size;
    end->pieces = wanted->size == AQMLAB_NEVER ? AQMLAB_NEVER : (wanted->size + piece - 1) / piece;
    end->timeout = wanted->sends ? AQMLAB_NEVER : 0;
    end->window = 10;
    end->threshold = ROOM / 4;
    end->beta = beta;
    end->measured = AQMLAB_NEVER;
    return end;
}

/* Once a round trip. */
static void slow_down(struct end *end, uint64_t number)
{
    if (number < end->recovery)
        return;
    end->recovery = end->next;
    end->window = end->threshold = end->window * end->beta > 2 ? end->window * end->beta : 2;
}

static void lose(struct end *end, uint64_t number)
{
    struct sent *sent = &end->sent[number % ROOM];
    if (!sent->under_way)
        return;
    sent->under_way = 0;
    end->under_way--;
    end->again[end->last++ % ROOM] = sent->piece;
    end->state.lost++;
}

static void on_answer(struct end *end, uint64_t now, uint64_t number, int marked)
{
    struct sent *sent = &end->sent[number % ROOM];
    if (!sent->under_way || number >= end->next || number < end->oldest)
        return;
    sent->under_way = 0;
    end->under_way--;
    end->measured = now - sent->at;
    end->rtt = end->rtt ? (7 * end->rtt + end->measured) / 8 : end->measured;
    end->window += end->window < end->threshold ? 1 : 1 / end->window;
    if (marked)
        slow_down(end, number);
    for (; end->oldest + REORDER <= number; end->oldest++)
        if (end->sent[end->oldest % ROOM].under_way) {
            lose(end, end->oldest);
            slow_down(end, end->oldest);
        }
}

static void on_data(struct end *end, uint64_t number, uint64_t piece, int ecn)
{
    if (piece >= end->next + ROOM)
        return; /* too early: without an answer it is sent again */
    memcpy(end->answer, &number, sizeof number);
    end->answer[HEAD] = ecn == AQMLAB_CE;
    end->answers = 1;
    if (piece >= end->next)
        end->has[piece % ROOM] = 1;
    for (; end->has[end->next % ROOM]; end->next++)
        end->has[end->next % ROOM] = 0;
    uint64_t delivered = end->next * (end->payload - HEAD);
    end->state.delivered = delivered < end->size ? delivered : end->size;
}

static void on_datagram(void *context, uint64_t now, const uint8_t *payload, size_t length, int ecn)
{
    struct end *end = context;
    uint64_t numbers[2];
    if (length < HEAD)
        return;
    memcpy(numbers, payload, HEAD);
    if (end->sends && length == HEAD)
        end->is_asked = 1;
    else if (end->sends)
        on_answer(end, now, numbers[0], payload[HEAD]);
    else
        on_data(end, numbers[0], numbers[1], ecn);
}

static int act(void *context, uint64_t now, aqmlab_send send, void *to, char *problem, size_t room)
{
    struct end *end = context;
    (void)problem, (void)room;
    if (!end->sends) {
        if (end->answers)
            send(to, end->answer, HEAD + 1, AQMLAB_NOT_ECT);
        else if (now >= end->timeout)
            send(to, end->answer, HEAD, AQMLAB_NOT_ECT); /* asks for the data */
        end->timeout = end->next > 0 ? AQMLAB_NEVER : end->timeout > now ? end->timeout : now + SECOND;
        end->answers = 0;
        return 0;
    }
    if (now >= end->timeout) { /* no answer for a long time: all are lost */
        for (; end->oldest < end->next; end->oldest++)
            lose(end, end->oldest);
        end->threshold = end->window / 2 > 2 ? end->window / 2 : 2;
        end->window = 1;
        end->recovery = end->next;
    }
    while (end->is_asked && end->under_way < (uint64_t)end->window && end->next - end->oldest < ROOM / 2) {
        uint8_t payload[1 << 16];
        uint64_t numbers[2] = {end->next, 0};
        if (end->first < end->last)
            numbers[1] = end->again[end->first++ % ROOM];
        else if (end->fresh < end->pieces)
            numbers[1] = end->fresh++;
        else
            break;
        end->sent[end->next++ % ROOM] = (struct sent){numbers[1], now, 1};
        end->under_way++;
        memset(payload, 0, end->payload);
        memcpy(payload, numbers, HEAD);
        send(to, payload, end->payload, AQMLAB_ECT0);
    }
    uint64_t wait = 2 * end->rtt > LEAST_TIMEOUT ? 2 * end->rtt : end->rtt ? LEAST_TIMEOUT : SECOND;
    end->timeout = end->under_way ? now + wait : AQMLAB_NEVER;
    return 0;
}

static uint64_t timeout(void *context)
{
    return ((struct end *)context)->timeout;
}

static void stop(void *context)
{
    struct end *end = context;
    end->pieces = end->fresh;
}

static void state(void *context, aqmlab_state *state)
{
    struct end *end = context;
    *state = end->state;
    state->complete = !end->sends && end->next >= end->pieces;
    state->window = (uint64_t)(end->window * end->payload);
    state->threshold = (uint64_t)(end->threshold * end->payload);
    state->smoothed_rtt = end->rtt;
}

static uint64_t round_trip(void *context)
{
    struct end *end = context;
    uint64_t measured = end->measured;
    end->measured = AQMLAB_NEVER;
    return measured;
}

const aqmlab_stack_functions *aqmlab_stack(void)
{
    static const aqmlab_stack_functions functions = {
        AQMLAB_STACK_VERSION, make, on_datagram, act, timeout, stop, state, round_trip, free,
    };
    return &functions;
}
