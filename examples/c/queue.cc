// FQ-CoDel around packets of C++: two flows, one of which sends four times as much, get equal shares of the link.
//
//     c++ queue.cc $(pkg-config --cflags --libs aqm) -o queue && ./queue
#include <aqm.h>

#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

struct Packet {
    std::string from;
    uint32_t size = 1500;
};

// Owns the packets that wait in it.
class Queue {
public:
    Queue(const char *algorithm, const aqm_port &port) {
        aqm_caller caller{};
        caller.drop = [](void *, void *packet, bool) { delete static_cast<Packet *>(packet); };
        char message[200];
        queue_.reset(aqm_new(algorithm, &port, 1, &caller, message, sizeof message));
        if (!queue_) throw std::invalid_argument(message);
    }

    void enqueue(uint64_t now, uint64_t flow, std::unique_ptr<Packet> packet) {
        aqm_header header{};
        header.flow = flow;
        header.size = packet->size;
        aqm_enqueue(queue_.get(), now, &header, packet.release());
    }

    std::unique_ptr<Packet> dequeue(uint64_t now) {
        return std::unique_ptr<Packet>(static_cast<Packet *>(aqm_dequeue(queue_.get(), now, nullptr)));
    }

private:
    struct Free {
        void operator()(aqm_queue *queue) const { aqm_free(queue); }
    };
    std::unique_ptr<aqm_queue, Free> queue_;
};

int main() {
    aqm_port port{};
    port.rate = 10'000'000;
    port.packets = 1000;
    Queue queue("fq_codel", port);
    std::map<std::string, unsigned> sent;
    for (uint64_t slot = 0; slot < 10'000; slot++) {
        uint64_t now = slot * 1'200'000;
        for (int i = 0; i < 4; i++) queue.enqueue(now, 1, std::make_unique<Packet>(Packet{"heavy"}));
        queue.enqueue(now, 2, std::make_unique<Packet>(Packet{"light"}));
        if (auto packet = queue.dequeue(now)) sent[packet->from]++;
    }
    for (const auto &[from, packets] : sent) std::printf("%s %u\n", from.c_str(), packets);
}
