// A dumbbell in ns-3, the same as aqmlab's lred/exp1: long TCP NewReno flows with five round-trip times over one bottleneck
// with RED. Nothing is traced. Prints one line of JSON.
//
//   sender[i] --access, sender_delay--> r1 ==rate, delay, RED==> r2 --access, receiver_delay[i]--> receiver[i]
//
// usage: ns3_dumbbell --flows=400 --rate=10e6 --access=100e6 --buffer=200 --min_th=50 --max_th=150 --duration=40
//
// What differs from the scenario: frames carry two bytes of PPP more; TCP is ns-3's, set as near to ns-2.35's as it goes
// (NewReno, no SACK, no time stamps, no delayed ACKs, initial window 2, time-out at least 0.2 s).

#include "peak_memory.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <array>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr std::array<double, 5> RECEIVER_DELAYS_MS = {10.0, 50.0, 100.0, 150.0, 200.0};
constexpr double SENDER_DELAY_MS = 2.5;
constexpr double BOTTLENECK_DELAY_MS = 2.5;
constexpr uint32_t HEADERS = 40;  // bytes of IP and TCP
constexpr uint32_t PACKET = 500;  // bytes, with them
constexpr uint32_t WINDOW = 1000; // segments
constexpr uint16_t FIRST_PORT = 1024;
constexpr uint32_t PORTS = 60000; // a host has not many more

std::string
Packets(uint32_t count)
{
    return std::to_string(count) + "p";
}

PointToPointHelper
MakeLink(double rate, double delayMs, uint32_t buffer)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate))));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(static_cast<uint64_t>(delayMs * 1000))));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(Packets(buffer)));
    return link;
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t flows = 400;
    uint32_t buffer = 200;
    uint32_t accessBuffer = 5000;
    uint32_t seed = 1;
    double rate = 10e6;
    double access = 100e6;
    double minTh = 50;
    double maxTh = 150;
    double duration = 40;
    CommandLine command(__FILE__);
    command.AddValue("flows", "long TCP flows", flows);
    command.AddValue("rate", "of the bottleneck, in bit/s", rate);
    command.AddValue("access", "rate of all other links, in bit/s", access);
    command.AddValue("buffer", "of the bottleneck, in packets", buffer);
    command.AddValue("access_buffer", "of all other links, in packets", accessBuffer);
    command.AddValue("min_th", "RED's lower threshold, in packets", minTh);
    command.AddValue("max_th", "RED's upper threshold, in packets", maxTh);
    command.AddValue("duration", "simulated time, in s", duration);
    command.AddValue("seed", "of the start times and of RED", seed);
    command.Parse(argc, argv);

    RngSeedManager::SetSeed(seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(10)));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PACKET - HEADERS));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(WINDOW * (PACKET - HEADERS)));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(WINDOW * (PACKET - HEADERS)));

    const auto hosts = static_cast<uint32_t>(RECEIVER_DELAYS_MS.size());
    NodeContainer routers(2);
    NodeContainer senders(hosts);
    NodeContainer receivers(hosts);
    InternetStackHelper().InstallAll();

    // The device holds one packet, so that the queue is RED's.
    NetDeviceContainer bottleneck = MakeLink(rate, BOTTLENECK_DELAY_MS, 1).Install(routers);
    TrafficControlHelper red;
    red.SetRootQueueDisc("ns3::RedQueueDisc",
                         "MaxSize", StringValue(Packets(buffer)),
                         "MinTh", DoubleValue(minTh),
                         "MaxTh", DoubleValue(maxTh),
                         "LInterm", DoubleValue(10),
                         "QW", DoubleValue(0.002),
                         "Gentle", BooleanValue(true),
                         "MeanPktSize", UintegerValue(PACKET),
                         "LinkBandwidth", DataRateValue(DataRate(static_cast<uint64_t>(rate))),
                         "LinkDelay", TimeValue(MicroSeconds(2500)));
    QueueDiscContainer queue = red.Install(bottleneck.Get(0));
    TrafficControlHelper plain;
    plain.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(Packets(accessBuffer)));
    plain.Install(bottleneck.Get(1));

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(bottleneck);
    std::vector<Ipv4Address> destinations;
    // Where nothing is asked for, ns-3 puts FqCoDel in front of a device.
    auto connect = [&](PointToPointHelper link, Ptr<Node> host, Ptr<Node> router) {
        addresses.NewNetwork();
        NetDeviceContainer devices = link.Install(host, router);
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
        return interfaces.GetAddress(0);
    };
    for (uint32_t i = 0; i < hosts; i++)
    {
        connect(MakeLink(access, SENDER_DELAY_MS, accessBuffer), senders.Get(i), routers.Get(0));
        destinations.push_back(
            connect(MakeLink(access, RECEIVER_DELAYS_MS[i], accessBuffer), receivers.Get(i), routers.Get(1)));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    for (uint32_t i = 0; i < hosts; i++)
    {
        // One listening socket for all: a sink accepts any number of connections.
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), FIRST_PORT));
        sink.Install(receivers.Get(i)).Start(Seconds(0));
    }
    NS_ABORT_MSG_IF(flows > hosts * PORTS, "a host has ports for " << PORTS << " flows");
    auto start = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < flows; i++)
    {
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(destinations[i % hosts], FIRST_PORT));
        source.SetAttribute("SendSize", UintegerValue(PACKET - HEADERS));
        source.Install(senders.Get(i % hosts)).Start(Seconds(start->GetValue(0, 1)));
    }

    const std::clock_t before = std::clock();
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    const double loop = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
    const QueueDisc::Stats& stats = queue.Get(0)->GetStats();
    const uint64_t events = Simulator::GetEventCount();
    std::cout << "{\"packets\":" << stats.nTotalDequeuedPackets << ",\"drops\":" << stats.nTotalDroppedPackets
              << ",\"events\":" << events << ",\"loop\":" << loop << ",\"memory\":" << PeakMemory() << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
