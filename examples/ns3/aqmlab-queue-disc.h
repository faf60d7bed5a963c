// A queue disc of ns-3 under any discipline of aqmlab, by its name.
//
//     TrafficControlHelper helper;
//     helper.SetRootQueueDisc("ns3::AqmlabQueueDisc", "Discipline", StringValue("lred:q0=50"),
//                             "LinkBandwidth", StringValue("10Mbps"), "MaxSize", StringValue("200p"));
#ifndef AQMLAB_QUEUE_DISC_H
#define AQMLAB_QUEUE_DISC_H

#include "ns3/data-rate.h"
#include "ns3/ipv4-queue-disc-item.h"
#include "ns3/queue-disc.h"
#include "ns3/queue.h"
#include "ns3/random-variable-stream.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <aqm.h>

#include <memory>

namespace ns3
{

class AqmlabQueueDisc : public QueueDisc
{
  public:
    static constexpr const char* EARLY_DROP = "Dropped by the discipline";
    static constexpr const char* FULL_DROP = "No room in the queue";
    static constexpr const char* DISCIPLINE_MARK = "Marked by the discipline";

    // Of one queue, QueueDisc would take its limit for that of the disc.
    AqmlabQueueDisc()
        : QueueDisc(QueueDiscSizePolicy::MULTIPLE_QUEUES)
    {
    }

    static TypeId GetTypeId()
    {
        static TypeId id =
            TypeId("ns3::AqmlabQueueDisc")
                .SetParent<QueueDisc>()
                .SetGroupName("TrafficControl")
                .AddConstructor<AqmlabQueueDisc>()
                .AddAttribute("Discipline", "Its name, and settings if any: pie:target=15ms,ecn=true",
                              StringValue("codel"), MakeStringAccessor(&AqmlabQueueDisc::m_discipline),
                              MakeStringChecker())
                .AddAttribute("LinkBandwidth", "The rate of the link", DataRateValue(DataRate("10Mbps")),
                              MakeDataRateAccessor(&AqmlabQueueDisc::m_rate), MakeDataRateChecker())
                .AddAttribute("LinkDelay", "The delay of the link", TimeValue(Seconds(0)),
                              MakeTimeAccessor(&AqmlabQueueDisc::m_delay), MakeTimeChecker())
                .AddAttribute("MeanPktSize", "The usual size of a packet in bytes", UintegerValue(1500),
                              MakeUintegerAccessor(&AqmlabQueueDisc::m_packet), MakeUintegerChecker<uint32_t>(1))
                .AddAttribute("MaxSize", "The packets or bytes that may wait", QueueSizeValue(QueueSize("1000p")),
                              MakeQueueSizeAccessor(&QueueDisc::SetMaxSize, &QueueDisc::GetMaxSize),
                              MakeQueueSizeChecker());
        return id;
    }

    int64_t AssignStreams(int64_t stream)
    {
        m_random->SetStream(stream);
        return 1;
    }

  protected:
    void DoDispose() override
    {
        m_wake.Cancel();
        m_queue.reset();
        m_held = nullptr;
        QueueDisc::DoDispose();
    }

  private:
    // The packets that wait, any of which can leave; QueueDisc counts those of its internal queues.
    class Held : public Queue<QueueDiscItem>
    {
      public:
        using Place = Iterator;
        bool Enqueue(Ptr<QueueDiscItem> item) override { return DoEnqueue(GetContainer().end(), item); }
        Ptr<QueueDiscItem> Dequeue() override { return DoDequeue(GetContainer().begin()); }
        Ptr<QueueDiscItem> Remove() override { return DoRemove(GetContainer().begin()); }
        Ptr<const QueueDiscItem> Peek() const override { return DoPeek(GetContainer().begin()); }
        void Put(Ptr<QueueDiscItem> item, Place& place) { DoEnqueue(GetContainer().end(), item, place); }
        Ptr<QueueDiscItem> Take(Place place) { return DoDequeue(place); }
    };

    struct Packet
    {
        Ptr<QueueDiscItem> item;
        Held::Place place;
        bool waits;
    };

    static void Drop(void* context, void* packet, bool full)
    {
        auto disc = static_cast<AqmlabQueueDisc*>(context);
        std::unique_ptr<Packet> dropped(static_cast<Packet*>(packet));
        if (!disc->m_held)
        {
            return; // the simulation is over
        }
        const char* reason = full ? FULL_DROP : EARLY_DROP;
        if (dropped->waits)
        {
            disc->m_held->Take(dropped->place);
            disc->DropAfterDequeue(dropped->item, reason);
        }
        else
        {
            disc->DropBeforeEnqueue(dropped->item, reason);
        }
    }

    static double Draw(void* context) { return static_cast<AqmlabQueueDisc*>(context)->m_random->GetValue(); }

    static uint64_t Now() { return Simulator::Now().GetNanoSeconds(); }

    static aqm_header Header(Ptr<const QueueDiscItem> item)
    {
        aqm_header header{};
        header.size = item->GetSize();
        header.flow = item->Hash(0);
        uint8_t field = 0;
        item->GetUint8Value(QueueItem::IP_DSFIELD, field);
        header.ecn = field & 3;
        header.dscp = field >> 2;
        if (auto ip = DynamicCast<const Ipv4QueueDiscItem>(item))
        {
            header.source = ip->GetHeader().GetSource().Get();
            header.destination = ip->GetHeader().GetDestination().Get();
            header.udp = ip->GetHeader().GetProtocol() == 17;
        }
        return header;
    }

    bool DoEnqueue(Ptr<QueueDiscItem> item) override
    {
        aqm_header header = Header(item);
        auto packet = new Packet{item, {}, false};
        if (!aqm_enqueue(m_queue.get(), Now(), &header, packet))
        {
            return false; // Drop had it
        }
        packet->waits = true;
        m_held->Put(item, packet->place);
        return true;
    }

    Ptr<QueueDiscItem> DoDequeue() override
    {
        uint8_t ecn = 0;
        std::unique_ptr<Packet> packet(static_cast<Packet*>(aqm_dequeue(m_queue.get(), Now(), &ecn)));
        if (!packet)
        {
            uint64_t until = aqm_paused_until(m_queue.get());
            if (until > 0 && !m_wake.IsRunning())
            {
                m_wake = Simulator::Schedule(NanoSeconds(until - std::min(until, Now())), &QueueDisc::Run, this);
            }
            return nullptr;
        }
        Ptr<QueueDiscItem> item = m_held->Take(packet->place);
        if (ecn == 3 && Header(item).ecn != 3)
        {
            Mark(item, DISCIPLINE_MARK);
        }
        return item;
    }

    bool CheckConfig() override
    {
        NS_ABORT_MSG_IF(GetNQueueDiscClasses() > 0 || GetNPacketFilters() > 0 || GetNInternalQueues() > 0,
                        "AqmlabQueueDisc: has no classes, filters or internal queues of the caller's");
        m_held = CreateObject<Held>();
        m_held->SetMaxSize(QueueSize("4294967295p")); // the discipline has the limit
        AddInternalQueue(m_held);
        return true;
    }

    void InitializeParams() override
    {
        aqm_port port{};
        port.rate = m_rate.GetBitRate();
        port.delay = m_delay.GetNanoSeconds();
        port.packet = m_packet;
        QueueSize limit = GetMaxSize();
        port.packets = limit.GetUnit() == QueueSizeUnit::PACKETS ? limit.GetValue() : 0;
        port.bytes = limit.GetValue(); // counts only without a limit in packets
        aqm_caller caller{this, Drop, Draw};
        char message[1000];
        m_queue.reset(aqm_new(m_discipline.c_str(), &port, 0, &caller, message, sizeof message));
        NS_ABORT_MSG_IF(!m_queue, "AqmlabQueueDisc: " << message);
        aqm_dequeue(m_queue.get(), Now(), nullptr); // its time counts from the first call, updates included
    }

    struct Free
    {
        void operator()(aqm_queue* queue) const { aqm_free(queue); }
    };

    std::string m_discipline;
    DataRate m_rate;
    Time m_delay;
    uint32_t m_packet;
    Ptr<Held> m_held;
    std::unique_ptr<aqm_queue, Free> m_queue;
    Ptr<UniformRandomVariable> m_random = CreateObject<UniformRandomVariable>();
    EventId m_wake;
};

NS_OBJECT_ENSURE_REGISTERED(AqmlabQueueDisc);

} // namespace ns3

#endif
