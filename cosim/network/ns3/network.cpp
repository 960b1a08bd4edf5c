#include "cosim/network/ns3/network.hpp"

#include <algorithm>
#include <string>

#include "cosim/core/random.hpp"
#include "cosim/network/ns3/devices.hpp"
#include "ns3/ampdu-subframe-header.h"
#include "ns3/arp-cache.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy-state-helper.h"
#include "ns3/wifi-psdu.h"

namespace hyphos::cosim {
namespace {

constexpr std::uint16_t kPort = 4000;
constexpr std::size_t kLongestDatagram = 65'507;
constexpr std::uint32_t kMostNodes = (1U << 24) - 2;  // of 10.0.0.0/8
constexpr std::uint32_t kNet = 10U << 24;
constexpr std::uint64_t kHostJitter = 3;  // the purpose of a random draw

Time now() { return {ns3::Simulator::Now().GetNanoSeconds()}; }

Error bad(Code code, std::string what) { return {code, std::move(what), "ns3"}; }

Error past(const std::string& what, Time at, Time now) {
  return bad(Code::out_of_range, what + " at " + std::to_string(at.ns) +
                                     " ns, but ns-3 is already at " + std::to_string(now.ns) +
                                     " ns");
}

/// The sequence number of a received frame.
std::uint16_t sequence_of(const ns3::Packet& frame, ns3::WifiPreamble preamble) {
  const auto mpdu = frame.Copy();
  // These generations send even a single frame as an aggregate.
  if (preamble == ns3::WIFI_PREAMBLE_VHT_SU || preamble == ns3::WIFI_PREAMBLE_HE_SU) {
    ns3::AmpduSubframeHeader delimiter;
    mpdu->RemoveHeader(delimiter);
  }
  ns3::WifiMacHeader header;
  mpdu->PeekHeader(header);
  return header.GetSequenceNumber();
}

}  // namespace

Ns3Network::~Ns3Network() {
  if (simulator_ == nullptr) return;
  streams_.reset();
  for (const auto& socket : sockets_) {
    socket->SetRecvCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
  }
  ns3::Simulator::Destroy();
}

Result<void> Ns3Network::init(std::uint32_t nodes, std::uint64_t seed) {
  static bool used = false;
  if (used)
    return bad(Code::unsupported, "ns-3 can run only once in a process: start another worker");
  auto model = RadioModel::make(options_.radio, &scene_, seed);
  if (!model) return model.error();
  if (nodes > kMostNodes)
    return bad(Code::invalid_config, "too many nodes for the network 10.0.0.0/8");
  used = true;
  ns3::RngSeedManager::SetSeed(1);
  ns3::RngSeedManager::SetRun(seed);
  Streams::set_defaults();
  simulator_ = ns3::CreateObject<WindowedSimulator>();
  ns3::Simulator::SetImplementation(simulator_);
  fates_.reset(nodes);
  seed_ = seed;
  last_entries_.resize(nodes);
  nodes_.Create(nodes);
  auto devices = make_wifi(*model, nodes_);
  if (!devices) return devices.error();
  devices_ = *devices;
  std::vector<ns3::Ptr<RadioPhy>> phys;
  for (NodeId node = 0; node < nodes; ++node) {
    const auto device = ns3::DynamicCast<ns3::WifiNetDevice>(devices_.Get(node));
    phys.push_back(ns3::DynamicCast<RadioPhy>(device->GetPhy()));
  }
  medium_.init(*model, options_.models, phys);
  make_stacks();
  // Events at instant 0 initialise the nodes. Sockets work only after that.
  if (auto ran = simulator_->run_before({1}); !ran) return ran;
  make_sockets();
  for (NodeId node = 0; node < nodes; ++node) watch(node);
  if (auto restarted = simulator_->restart(); !restarted) return restarted;
  medium_.start_jammers(seed);
  return success();
}

void Ns3Network::make_stacks() {
  ns3::InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.SetRoutingHelper(ns3::Ipv4StaticRoutingHelper());
  stack.Install(nodes_);
  for (NodeId node = 0; node < nodes_.GetN(); ++node) {
    addresses_.emplace_back(kNet + 1 + node);
    const auto ip = nodes_.Get(node)->GetObject<ns3::Ipv4L3Protocol>();
    const std::uint32_t interface = ip->AddInterface(devices_.Get(node));
    ip->AddAddress(interface,
                   ns3::Ipv4InterfaceAddress(addresses_.back(), ns3::Ipv4Mask("255.0.0.0")));
    ip->SetUp(interface);
    const auto cache = ip->GetInterface(interface)->GetArpCache();
    for (NodeId other = 0; other < nodes_.GetN(); ++other) {
      if (other == node) continue;
      ns3::ArpCache::Entry* entry = cache->Add(ns3::Ipv4Address(kNet + 1 + other));
      entry->SetMacAddress(devices_.Get(other)->GetAddress());
      entry->MarkPermanent();
    }
  }
}

void Ns3Network::make_sockets() {
  for (NodeId node = 0; node < nodes_.GetN(); ++node) {
    const auto socket =
        ns3::Socket::CreateSocket(nodes_.Get(node), ns3::UdpSocketFactory::GetTypeId());
    socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kPort));
    socket->SetAllowBroadcast(true);
    socket->SetRecvCallback(ns3::Callback<void, ns3::Ptr<ns3::Socket>>(
        [this, node](ns3::Ptr<ns3::Socket> readable) { receive(node, readable); }));
    sockets_.push_back(socket);
  }
  if (options_.transport == Transport::udp) return;
  streams_.emplace(fates_, options_.radio.queue_packets);
  streams_->init(nodes_, addresses_);
}

/// Connects to every point where ns-3 can lose a packet before it is on the air, and to the
/// arrival.
void Ns3Network::watch(NodeId node) {
  using Packets = ns3::Ptr<const ns3::Packet>;
  const auto device = ns3::DynamicCast<ns3::WifiNetDevice>(devices_.Get(node));
  device->GetMac()->TraceConnectWithoutContext(
      "DroppedMpdu",
      ns3::Callback<void, ns3::WifiMacDropReason, ns3::Ptr<const ns3::WifiMpdu>>(
          [this](ns3::WifiMacDropReason reason, ns3::Ptr<const ns3::WifiMpdu> frame) {
            frame_dropped(reason, frame);
          }));
  nodes_.Get(node)->GetObject<ns3::TrafficControlLayer>()->TraceConnectWithoutContext(
      "TcDrop", ns3::Callback<void, Packets>(
                    [this](Packets lost) { packet_dropped(lost, DropReason::queue_full); }));
  device->GetPhy()->GetState()->TraceConnectWithoutContext(
      "RxOk", ns3::Callback<void, Packets, double, ns3::WifiMode, ns3::WifiPreamble>(
                  [this, node](Packets frame, double, ns3::WifiMode, ns3::WifiPreamble preamble) {
                    each_packet(*frame, [&](PacketId id) {
                      fates_.received(id, node, sequence_of(*frame, preamble), now());
                    });
                  }));
}

Result<void> Ns3Network::set_poses(std::span<const Pose> poses) {
  if (poses.size() != nodes_.GetN()) {
    return bad(Code::invalid_config, std::to_string(poses.size()) + " poses for " +
                                         std::to_string(nodes_.GetN()) + " nodes");
  }
  medium_.set_poses(poses);
  return success();
}

Result<void> Ns3Network::inject(const Packet& packet) {
  const bool everyone = packet.to == kEveryone;
  if (packet.from >= nodes_.GetN() || (!everyone && packet.to >= nodes_.GetN())) {
    return bad(Code::not_found, "no node " + std::to_string(std::max(packet.from, packet.to)));
  }
  if (packet.stamp < now_) return past("a packet", packet.stamp, now_);
  const bool stream = !everyone && streams_.has_value();
  if (!stream && packet.bytes.size() > kLongestDatagram) {
    return bad(Code::invalid_config,
               "a packet of " + std::to_string(packet.bytes.size()) +
                   " bytes does not fit into a datagram: send less, or send to one node over tcp");
  }
  // As in the analytic radio, packets of one host keep their order.
  const auto most = static_cast<std::uint64_t>(options_.radio.host_jitter.ns);
  const Duration jitter{
      static_cast<std::int64_t>(draw(seed_, packet.id, kHostJitter, packet.from) % (most + 1))};
  Time& entry = last_entries_[packet.from];
  entry = std::max(entry, packet.stamp + jitter);
  simulator_->inject(entry, packet.id, packet.from, [this, packet, stream] {
    fates_.sent(packet, now());
    if (stream) {
      streams_->send(packet);
    } else {
      send_datagram(packet);
    }
  });
  return success();
}

void Ns3Network::send_datagram(const Packet& packet) {
  const auto carrier =
      ns3::Create<ns3::Packet>(reinterpret_cast<const std::uint8_t*>(packet.bytes.data()),
                               static_cast<std::uint32_t>(packet.bytes.size()));
  carrier->AddPacketTag(PacketTag(packet.id));
  const auto to =
      packet.to == kEveryone ? ns3::Ipv4Address(kNet + (1U << 24) - 1) : addresses_[packet.to];
  if (sockets_[packet.from]->SendTo(carrier, 0, ns3::InetSocketAddress(to, kPort)) < 0) {
    fates_.all_dropped(packet.id, now(), DropReason::other);
  }
}

void Ns3Network::receive(NodeId node, const ns3::Ptr<ns3::Socket>& socket) {
  while (const ns3::Ptr<ns3::Packet> packet = socket->Recv()) {
    PacketTag tag;
    if (!packet->PeekPacketTag(tag)) continue;
    std::vector<std::byte> bytes(packet->GetSize());
    packet->CopyData(reinterpret_cast<std::uint8_t*>(bytes.data()), packet->GetSize());
    fates_.delivered(tag.id(), node, now(), Buffer::adopt(std::move(bytes)));
  }
}

void Ns3Network::packet_dropped(const ns3::Ptr<const ns3::Packet>& packet, DropReason reason) {
  PacketTag tag;
  if (packet->PeekPacketTag(tag)) fates_.all_dropped(tag.id(), now(), reason);
}

void Ns3Network::frame_dropped(ns3::WifiMacDropReason reason,
                               const ns3::Ptr<const ns3::WifiMpdu>& frame) {
  if (reason != ns3::WIFI_MAC_DROP_REACHED_RETRY_LIMIT) {
    const bool full = reason == ns3::WIFI_MAC_DROP_FAILED_ENQUEUE;
    return packet_dropped(frame->GetPacket(), full ? DropReason::queue_full : DropReason::other);
  }
  PacketTag tag;
  if (!frame->GetPacket()->PeekPacketTag(tag)) return;
  fates_.given_up(tag.id(), now(), frame->GetHeader().GetSequenceNumber());
}

Result<void> Ns3Network::advance(Time end) {
  if (end < now_) return past("asked to end", end, now_);
  now_ = end;
  return simulator_->run_before(end);
}

Result<void> Ns3Network::poll(std::vector<Outcome>& outcomes) {
  std::ranges::move(fates_.outcomes(), std::back_inserter(outcomes));
  fates_.outcomes().clear();
  return success();
}

}  // namespace hyphos::cosim
