// The traffic of traffic.hpp in ns-3 alone, written without the co-simulator: ns-3's own event loop
// in one run, its own channel, mobility and helpers. Prints "id to time" for each arrival.
//
//   cosim_plain_ns3 open|walls

#include <cstdio>
#include <string_view>

#include "ns3/double.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/mobility-model.h"
#include "ns3/neighbor-cache-helper.h"
#include "ns3/node-container.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/txop.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/yans-wifi-channel.h"
#include "ns3/yans-wifi-helper.h"
#include "tests/cosim/ns3/traffic.hpp"

namespace {

using namespace hyphos::cosim;
using namespace ns3;  // NOLINT: this is an ns-3 program

constexpr std::uint16_t kPort = 4000;

void place(const NodeContainer& nodes) {
  auto places = CreateObject<ListPositionAllocator>();
  for (const Pose& pose : standing()) {
    places->Add(Vector(pose.position.x, pose.position.y, pose.position.z));
  }
  MobilityHelper mobility;
  mobility.SetPositionAllocator(places);
  mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
  mobility.Install(nodes);
}

ns3::Ptr<PropagationLossModel> open_field(const RadioOptions& radio) {
  auto loss = CreateObject<LogDistancePropagationLossModel>();
  loss->SetPathLossExponent(radio.path_loss_exponent);
  loss->SetReference(1, radio.reference_loss_db);
  return loss;
}

/// Shadowing and walls come from Hyphos: ns-3 gets their sum for each pair.
ns3::Ptr<PropagationLossModel> behind_walls(const Ns3Options& options, const NodeContainer& nodes) {
  const Scene scene(options.boxes);
  const auto model = RadioModel::make(options.radio, &scene, kTrafficSeed).or_throw();
  const auto poses = standing();
  auto loss = CreateObject<MatrixPropagationLossModel>();
  for (std::uint32_t a = 0; a < kStanding; ++a) {
    for (std::uint32_t b = a + 1; b < kStanding; ++b) {
      const double power = model.power_dbm(a, poses[a].position, b, poses[b].position);
      loss->SetLoss(nodes.Get(a)->GetObject<MobilityModel>(),
                    nodes.Get(b)->GetObject<MobilityModel>(), options.radio.tx_power_dbm - power);
    }
  }
  return loss;
}

NetDeviceContainer devices(const NodeContainer& nodes, const ns3::Ptr<PropagationLossModel>& loss,
                           const RadioOptions& radio) {
  auto channel = CreateObject<YansWifiChannel>();
  channel->SetPropagationLossModel(loss);
  auto delay = CreateObject<ConstantSpeedPropagationDelayModel>();
  delay->SetSpeed(299'792'458);
  channel->SetPropagationDelayModel(delay);
  YansWifiPhyHelper phy;
  phy.SetChannel(channel);
  phy.Set("TxPowerStart", DoubleValue(radio.tx_power_dbm));
  phy.Set("TxPowerEnd", DoubleValue(radio.tx_power_dbm));
  phy.Set("RxNoiseFigure", DoubleValue(radio.noise_dbm + 100.965));
  phy.Set("RxSensitivity", DoubleValue(radio.detection_dbm));
  phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel", "MinimumRssi",
                                DoubleValue(radio.detection_dbm));
  WifiHelper wifi;
  wifi.SetStandard(WIFI_STANDARD_80211g);
  const StringValue rate("ErpOfdmRate24Mbps");
  wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", rate, "ControlMode",
                               rate, "NonUnicastMode", rate);
  WifiMacHelper mac;
  mac.SetType("ns3::AdhocWifiMac");
  auto made = wifi.Install(phy, mac, nodes);
  wifi.AssignStreams(made, 0);
  for (std::uint32_t i = 0; i < made.GetN(); ++i) {
    auto device = DynamicCast<WifiNetDevice>(made.Get(i));
    device->SetMtu(1500);
    auto queue = device->GetMac()->GetTxop()->GetWifiMacQueue();
    queue->SetMaxSize({QueueSizeUnit::PACKETS, radio.queue_packets});
    queue->SetMaxDelay(Hours(1));
  }
  return made;
}

void send(const Ptr<Socket>& socket, const Sent& sent) {
  std::vector<std::uint8_t> bytes(sent.size);
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(sent.id >> (8 * i));
  const Ipv4Address to(sent.to == kEveryone ? 0x0affffff : 0x0a000001 + sent.to);
  socket->SendTo(Create<ns3::Packet>(bytes.data(), bytes.size()), 0, InetSocketAddress(to, kPort));
}

void receive(std::uint32_t node, const Ptr<Socket>& socket) {
  while (auto packet = socket->Recv()) {
    std::uint8_t bytes[8];
    packet->CopyData(bytes, sizeof bytes);
    std::uint64_t id = 0;
    for (int i = 7; i >= 0; --i) id = id << 8 | bytes[i];
    std::printf("%lu %u %ld\n", id, node, Simulator::Now().GetNanoSeconds());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool walls = argc > 1 && std::string_view(argv[1]) == "walls";
  const Ns3Options options = standing_options(walls);
  RngSeedManager::SetSeed(1);
  RngSeedManager::SetRun(kTrafficSeed);
  NodeContainer nodes(kStanding);
  place(nodes);
  const auto made = devices(nodes, walls ? behind_walls(options, nodes) : open_field(options.radio),
                            options.radio);
  InternetStackHelper stack;
  stack.Install(nodes);
  Ipv4AddressHelper("10.0.0.0", "255.0.0.0").Assign(made);
  TrafficControlHelper().Uninstall(made);
  NeighborCacheHelper().PopulateNeighborCache();
  std::vector<Ptr<Socket>> sockets;
  for (std::uint32_t node = 0; node < kStanding; ++node) {
    auto socket = Socket::CreateSocket(nodes.Get(node), UdpSocketFactory::GetTypeId());
    socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), kPort));
    socket->SetAllowBroadcast(true);
    socket->SetRecvCallback(
        Callback<void, Ptr<Socket>>([node](Ptr<Socket> readable) { receive(node, readable); }));
    sockets.push_back(socket);
  }
  for (const Sent& sent : standing_traffic()) {
    Simulator::ScheduleWithContext(sent.from, MilliSeconds(sent.ms),
                                   [&, sent] { send(sockets[sent.from], sent); });
  }
  Simulator::Stop(MilliSeconds(kTrafficEndMs));
  Simulator::Run();
  Simulator::Destroy();
  return 0;
}
