// Long TCP flows over a bottleneck with any queue disc, of ns-3 or of aqmlab. Prints one line of JSON: goodput in bit/s,
// the mean time in s that sent packets waited, drops by reason, and marks, all after the warm-up.
//
//     ./dumbbell --flows=10 --queue=AqmlabQueueDisc '--set=Discipline=lred:q0=50|MaxSize=200p'
//     ./dumbbell --flows=10 --queue=CoDelQueueDisc --set=MaxSize=200p
#include "aqmlab-queue-disc.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <map>
#include <sstream>

using namespace ns3;

namespace
{

constexpr uint16_t PORT = 5001;

PointToPointHelper
MakeLink(const std::string& rate, double delayMs, const std::string& buffer)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(static_cast<uint64_t>(delayMs * 1000))));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(buffer));
    return link;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t flows = 10;
    uint32_t seed = 1;
    double rtt = 40;
    double duration = 60;
    double warmup = 10;
    bool ecn = false;
    std::string rate = "10Mbps";
    std::string tcp = "ns3::TcpNewReno";
    std::string queue = "AqmlabQueueDisc";
    std::string settings;
    CommandLine command(__FILE__);
    command.AddValue("flows", "long TCP flows", flows);
    command.AddValue("rate", "of the bottleneck", rate);
    command.AddValue("rtt", "round-trip time without queues, in ms", rtt);
    command.AddValue("tcp", "the congestion control", tcp);
    command.AddValue("ecn", "whether TCP uses ECN", ecn);
    command.AddValue("queue", "the queue disc", queue);
    command.AddValue("set", "its attributes, with | between them", settings);
    command.AddValue("duration", "simulated time, in s", duration);
    command.AddValue("warmup", "the part of it that is not measured, in s", warmup);
    command.AddValue("seed", "of start times and queue discs", seed);
    command.Parse(argc, argv);

    RngSeedManager::SetSeed(seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(tcp));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(ecn ? "On" : "Off"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    NodeContainer routers(2);
    NodeContainer senders(flows);
    NodeContainer receivers(flows);
    InternetStackHelper().InstallAll();

    std::istringstream attributes(settings);
    for (std::string each; std::getline(attributes, each, '|');)
    {
        auto end = each.find('=');
        NS_ABORT_MSG_IF(end == std::string::npos, each << ": must be ATTRIBUTE=VALUE");
        Config::SetDefault("ns3::" + queue + "::" + each.substr(0, end), StringValue(each.substr(end + 1)));
    }

    // The device holds one packet, so that the queue is the queue disc's.
    NetDeviceContainer bottleneck = MakeLink(rate, rtt / 6, "1p").Install(routers);
    TrafficControlHelper tested;
    tested.SetRootQueueDisc("ns3::" + queue);
    Ptr<QueueDisc> disc = tested.Install(bottleneck.Get(0)).Get(0);
    TrafficControlHelper plain;
    plain.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("10000p"));
    plain.Install(bottleneck.Get(1));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(bottleneck);
    // Where nothing is asked for, ns-3 puts FqCoDel in front of a device.
    auto connect = [&](Ptr<Node> host, Ptr<Node> router) {
        addresses.NewNetwork();
        NetDeviceContainer devices = MakeLink("100Mbps", rtt / 6, "10000p").Install(host, router);
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
        return interfaces.GetAddress(0);
    };
    ApplicationContainer sinks;
    auto start = CreateObject<UniformRandomVariable>();
    start->SetStream(1); // whatever streams the queue disc takes
    for (uint32_t i = 0; i < flows; i++)
    {
        connect(senders.Get(i), routers.Get(0));
        InetSocketAddress to(connect(receivers.Get(i), routers.Get(1)), PORT);
        sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT))
                      .Install(receivers.Get(i)));
        BulkSendHelper source("ns3::TcpSocketFactory", to);
        source.Install(senders.Get(i)).Start(Seconds(start->GetValue(0, 1)));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    // A packet waits from its arrival at the queue disc until the device begins to send it.
    std::map<uint64_t, Time> arrivals;
    Time waited;
    uint64_t sent = 0;
    bool measured = false;
    disc->TraceConnectWithoutContext(
        "Enqueue", Callback<void, Ptr<const QueueDiscItem>>([&](Ptr<const QueueDiscItem> item) {
            arrivals[item->GetPacket()->GetUid()] = Simulator::Now();
        }));
    bottleneck.Get(0)->TraceConnectWithoutContext(
        "PhyTxBegin", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet> packet) {
            auto arrival = arrivals.extract(packet->GetUid());
            if (measured && arrival)
            {
                waited += Simulator::Now() - arrival.mapped();
                sent++;
            }
        }));
    auto received = [&] {
        uint64_t bytes = 0;
        for (uint32_t i = 0; i < flows; i++)
        {
            bytes += sinks.Get(i)->GetObject<PacketSink>()->GetTotalRx();
        }
        return bytes;
    };
    uint64_t before = 0;
    QueueDisc::Stats first;
    Simulator::Schedule(Seconds(warmup), [&] {
        measured = true;
        before = received();
        first = disc->GetStats();
    });
    Simulator::Stop(Seconds(duration));
    Simulator::Run();

    const QueueDisc::Stats& last = disc->GetStats();
    std::ostringstream drops;
    const char* comma = "";
    for (auto kind : {&QueueDisc::Stats::nDroppedPacketsBeforeEnqueue, &QueueDisc::Stats::nDroppedPacketsAfterDequeue})
    {
        for (const auto& [reason, count] : last.*kind)
        {
            auto found = (first.*kind).find(reason);
            drops << comma << '"' << reason << "\":" << count - (found == (first.*kind).end() ? 0 : found->second);
            comma = ",";
        }
    }
    std::cout << "{\"goodput\":" << (received() - before) * 8 / (duration - warmup)
              << ",\"wait\":" << waited.GetSeconds() / static_cast<double>(std::max<uint64_t>(sent, 1))
              << ",\"drops\":" << last.nTotalDroppedPackets - first.nTotalDroppedPackets
              << ",\"marks\":" << last.nTotalMarkedPackets - first.nTotalMarkedPackets
              << ",\"reasons\":{" << drops.str() << "}}" << std::endl;
    Simulator::Destroy();
    return 0;
}
