// Stations that send to their access point over 802.11n in ns-3: goodput of all, and the 95th percentile of the delays.
//
// usage: ns3_wifi --stations=5 --slow=2 --tcp=1 --warmup=5 --duration=25 --seed=1
//
// ns3_wifi.toml is the same in aqmlab. The first --slow stations have MCS 0, the others MCS 7, in both directions. Prints one
// line of JSON: the packets that the access point received in the whole run, and after the warm-up goodput in bit/s, and in s the
// 95th percentiles of the delays of packets that arrive, of the slow stations and of the others.

#include "peak_memory.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/flow-monitor-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <array>
#include <ctime>
#include <iostream>
#include <map>
#include <set>
#include <string>

using namespace ns3;

namespace
{

constexpr uint32_t SEGMENT = 1448;  // bytes of TCP in a packet of 1500
constexpr uint32_t DATAGRAM = 1472; // of UDP
constexpr uint16_t FIRST_PORT = 5000;

} // namespace

/// The rate of each station by its address.
class FixedRates : public ConstantRateWifiManager
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("FixedRates").SetParent<ConstantRateWifiManager>().AddConstructor<FixedRates>();
        return tid;
    }

    static std::set<Mac48Address> slow;
    bool isSlow = false;

  private:
    WifiTxVector DoGetDataTxVector(WifiRemoteStation* station, uint16_t width) override
    {
        const bool low = isSlow || slow.count(GetAddress(station)) > 0;
        WifiMode mode(low ? "HtMcs0" : "HtMcs7");
        return WifiTxVector(mode,
                            GetDefaultTxPowerLevel(),
                            WIFI_PREAMBLE_HT_MF,
                            800,
                            1,
                            1,
                            0,
                            20,
                            GetAggregation(station));
    }
};

std::set<Mac48Address> FixedRates::slow;
NS_OBJECT_ENSURE_REGISTERED(FixedRates);

int
main(int argc, char* argv[])
{
    uint32_t stations = 1, slow = 0, tcp = 0, seed = 1;
    double warmup = 5, duration = 25;
    CommandLine cmd;
    cmd.AddValue("stations", "", stations);
    cmd.AddValue("slow", "", slow);
    cmd.AddValue("tcp", "", tcp);
    cmd.AddValue("seed", "", seed);
    cmd.AddValue("warmup", "", warmup);
    cmd.AddValue("duration", "", duration);
    cmd.Parse(argc, argv);
    RngSeedManager::SetSeed(seed);

    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize("400p")));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(100)));
    // An agreement on block ACKs is not given up before the access point has won the medium for its answer: Linux waits 1 s.
    Config::SetDefault("ns3::QosTxop::AddBaResponseTimeout", TimeValue(Seconds(1)));
    // An aggregate without an answer is sent again, as ath9k does, without a request for the answer (BAR) before it. Then
    // none may be given up: without a request the receiver waits for its frames for ever.
    Config::SetDefault("ns3::QosTxop::UseExplicitBarAfterMissedBlockAck", BooleanValue(false));
    Config::SetDefault("ns3::WifiRemoteStationManager::MaxSsrc", UintegerValue(255));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(4692480));
    Config::SetDefault("ns3::WifiRemoteStationManager::FragmentationThreshold", UintegerValue(4692480));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpCubic")));
    // A measurement for each ACK lets the variance of the round trip fade within one. By RFC 6298 most time-outs would be
    // too early.
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(10)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 22));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 22));

    NodeContainer ap(1), sta(stations);
    YansWifiChannelHelper channel = YansWifiChannelHelper::Default();
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211n);
    wifi.SetRemoteStationManager("FixedRates", "ControlMode", StringValue("OfdmRate24Mbps"));
    WifiMacHelper mac;
    Ssid ssid("x");
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(ssid));
    NetDeviceContainer staDevices = wifi.Install(phy, mac, sta);
    // All stations share the one queue of an access point.
    const std::string shared = std::to_string(400 * stations) + "p";
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(shared)));
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(ssid));
    NetDeviceContainer apDevice = wifi.Install(phy, mac, ap);
    for (uint32_t i = 0; i < slow; i++)
    {
        Ptr<WifiNetDevice> device = DynamicCast<WifiNetDevice>(staDevices.Get(i));
        FixedRates::slow.insert(device->GetMac()->GetAddress());
        DynamicCast<FixedRates>(device->GetRemoteStationManager())->isSlow = true;
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::UniformDiscPositionAllocator", "rho", DoubleValue(1.0));
    mobility.Install(ap);
    mobility.Install(sta);

    InternetStackHelper stack;
    stack.Install(ap);
    stack.Install(sta);
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer apInterface = address.Assign(apDevice);
    address.Assign(staDevices);
    // The queue of the device alone.
    TrafficControlHelper::Default().Uninstall(apDevice);
    TrafficControlHelper::Default().Uninstall(staDevices);

    ApplicationContainer sinks;
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < stations; i++)
    {
        const std::string protocol = tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
        InetSocketAddress local(Ipv4Address::GetAny(), FIRST_PORT + i), remote(apInterface.GetAddress(0), FIRST_PORT + i);
        PacketSinkHelper sink(protocol, local);
        sinks.Add(sink.Install(ap));
        ApplicationContainer source;
        if (tcp)
        {
            BulkSendHelper bulk(protocol, remote);
            bulk.SetAttribute("SendSize", UintegerValue(SEGMENT));
            source = bulk.Install(sta.Get(i));
        }
        else
        {
            OnOffHelper cbr(protocol, remote);
            cbr.SetConstantRate(DataRate(static_cast<uint64_t>(90e6 / stations)), DATAGRAM);
            source = cbr.Install(sta.Get(i));
        }
        source.Start(Seconds(1 + start->GetValue(0, 0.1)));
    }
    sinks.Start(Seconds(0));

    FlowMonitorHelper helper;
    Ptr<FlowMonitor> monitor = helper.InstallAll();
    monitor->SetAttribute("DelayBinWidth", DoubleValue(0.0005));
    monitor->SetAttribute("MaxPerHopDelay", TimeValue(Seconds(duration)));
    auto received = [&] {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < sinks.GetN(); i++)
            sum += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
        return sum;
    };
    // Packets that have arrived so far by their delay, of the slow stations and of the others.
    auto delays = [&] {
        std::array<std::map<double, int64_t>, 2> found;
        auto classifier = DynamicCast<Ipv4FlowClassifier>(helper.GetClassifier());
        for (auto& [id, stats] : monitor->GetFlowStats())
        {
            const uint32_t station = classifier->FindFlow(id).destinationPort - FIRST_PORT;
            if (station >= stations)
                continue;
            Histogram histogram = stats.delayHistogram;
            for (uint32_t bin = 0; bin < histogram.GetNBins(); bin++)
                found[station >= slow][histogram.GetBinEnd(bin)] += histogram.GetBinCount(bin);
        }
        return found;
    };
    uint64_t before = 0;
    std::array<std::map<double, int64_t>, 2> earlier;
    Simulator::Schedule(Seconds(warmup), [&] {
        before = received();
        earlier = delays();
    });
    Simulator::Stop(Seconds(duration));
    const std::clock_t began = std::clock();
    Simulator::Run();
    const double loop = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;

    std::array<std::map<double, int64_t>, 2> later = delays();
    std::array<double, 2> p95{};
    for (uint32_t rate = 0; rate < 2; rate++)
    {
        int64_t all = 0;
        int64_t seen = 0;
        for (auto& [end, count] : later[rate])
            all += count -= earlier[rate][end];
        for (auto& [end, count] : later[rate])
        {
            seen += count;
            if (20 * seen >= 19 * all && all > 0)
            {
                p95[rate] = end;
                break;
            }
        }
    }
    const uint64_t packets = received() / (tcp ? SEGMENT : DATAGRAM);
    std::cout << "{\"packets\":" << packets << ",\"events\":" << Simulator::GetEventCount() << ",\"loop\":" << loop
              << ",\"memory\":" << PeakMemory()
              << ",\"goodput\":" << 8.0 * static_cast<double>(received() - before) / (duration - warmup)
              << ",\"slow_delay_p95\":" << p95[0]
              << ",\"fast_delay_p95\":" << p95[1] << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
