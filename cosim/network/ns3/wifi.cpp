// 802.11 of ns-3, with its stack.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/network/ns3/devices.hpp"
#include "cosim/network/ns3/medium.hpp"
#include "cosim/network/ns3/ns3_radio.hpp"
#include "cosim/network/ns3/streams.hpp"
#include "ns3/ampdu-subframe-header.h"
#include "ns3/arp-cache.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/net-device-container.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy-state-helper.h"
#include "ns3/wifi-psdu.h"

namespace hyphos::cosim {
namespace {

constexpr std::uint16_t kPort = 4000;
constexpr std::size_t kLongestDatagram = 65'507;
constexpr std::uint32_t kMostNodes = (1U << 24) - 2;  // of 10.0.0.0/8
constexpr std::uint32_t kNet = 10U << 24;

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

/// Robots in one ad-hoc network of 802.11, with IPv4, UDP and TCP. Nodes know all addresses from
/// the start, so there is no ARP.
class Wifi final : public Ns3Radio {
 public:
  Wifi(Ns3Options options, Scene scene)
      : Ns3Radio(std::move(options), std::move(scene)), medium_(fates()) {}
  ~Wifi() override;

 private:
  Result<void> check_setup(std::uint32_t nodes) const override;
  Result<void> make(const RadioModel& model, std::uint64_t seed) override;
  Result<void> place(std::span<const Pose> poses) override {
    medium_.set_poses(poses);
    return success();
  }
  Result<void> check_packet(const Packet& packet) const override;
  void enter(const Packet& packet) override;

  void make_stacks();
  void make_sockets();
  void watch(NodeId node);
  [[nodiscard]] bool streams(const Packet& packet) const {
    return packet.to != kEveryone && streams_.has_value();
  }
  void send_datagram(const Packet& packet);
  void receive(NodeId node, const ns3::Ptr<ns3::Socket>& socket);
  void frame_dropped(ns3::WifiMacDropReason reason, const ns3::Ptr<const ns3::WifiMpdu>& frame);
  void packet_dropped(const ns3::Ptr<const ns3::Packet>& packet, DropReason reason);

  Medium medium_;
  std::optional<Streams> streams_;
  ns3::NodeContainer hosts_;
  ns3::NetDeviceContainer devices_;
  std::vector<ns3::Ipv4Address> addresses_;
  std::vector<ns3::Ptr<ns3::Socket>> sockets_;
};

Wifi::~Wifi() {
  streams_.reset();
  for (const auto& socket : sockets_) {
    socket->SetRecvCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
  }
  end();
}

Result<void> Wifi::check_setup(std::uint32_t nodes) const {
  if (nodes <= kMostNodes) return success();
  return bad(Code::invalid_config, "too many nodes for the network 10.0.0.0/8");
}

Result<void> Wifi::make(const RadioModel& model, std::uint64_t seed) {
  Streams::set_defaults();
  hosts_.Create(nodes());
  auto devices = make_wifi(model, hosts_);
  if (!devices) return devices.error();
  devices_ = *devices;
  std::vector<ns3::Ptr<RadioPhy>> phys;
  for (NodeId node = 0; node < nodes(); ++node) {
    const auto device = ns3::DynamicCast<ns3::WifiNetDevice>(devices_.Get(node));
    phys.push_back(ns3::DynamicCast<RadioPhy>(device->GetPhy()));
  }
  medium_.init(model, options().models, phys);
  make_stacks();
  // Events at instant 0 initialise the nodes. Sockets work only after that.
  if (auto ran = simulator().run_before({1}); !ran) return ran;
  make_sockets();
  for (NodeId node = 0; node < nodes(); ++node) watch(node);
  if (auto restarted = simulator().restart(); !restarted) return restarted;
  medium_.start_jammers(seed);
  return success();
}

void Wifi::make_stacks() {
  ns3::InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.SetRoutingHelper(ns3::Ipv4StaticRoutingHelper());
  stack.Install(hosts_);
  for (NodeId node = 0; node < hosts_.GetN(); ++node) {
    addresses_.emplace_back(kNet + 1 + node);
    const auto ip = hosts_.Get(node)->GetObject<ns3::Ipv4L3Protocol>();
    const std::uint32_t interface = ip->AddInterface(devices_.Get(node));
    ip->AddAddress(interface,
                   ns3::Ipv4InterfaceAddress(addresses_.back(), ns3::Ipv4Mask("255.0.0.0")));
    ip->SetUp(interface);
    const auto cache = ip->GetInterface(interface)->GetArpCache();
    for (NodeId other = 0; other < hosts_.GetN(); ++other) {
      if (other == node) continue;
      ns3::ArpCache::Entry* entry = cache->Add(ns3::Ipv4Address(kNet + 1 + other));
      entry->SetMacAddress(devices_.Get(other)->GetAddress());
      entry->MarkPermanent();
    }
  }
}

void Wifi::make_sockets() {
  for (NodeId node = 0; node < hosts_.GetN(); ++node) {
    const auto socket =
        ns3::Socket::CreateSocket(hosts_.Get(node), ns3::UdpSocketFactory::GetTypeId());
    socket->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kPort));
    socket->SetAllowBroadcast(true);
    socket->SetRecvCallback(ns3::Callback<void, ns3::Ptr<ns3::Socket>>(
        [this, node](ns3::Ptr<ns3::Socket> readable) { receive(node, readable); }));
    sockets_.push_back(socket);
  }
  if (options().transport == Transport::udp) return;
  streams_.emplace(fates(), options().radio.queue_packets);
  streams_->init(hosts_, addresses_);
}

/// Connects to every point where ns-3 can lose a packet before it is on the air, and to the
/// arrival.
void Wifi::watch(NodeId node) {
  using Packets = ns3::Ptr<const ns3::Packet>;
  const auto device = ns3::DynamicCast<ns3::WifiNetDevice>(devices_.Get(node));
  device->GetMac()->TraceConnectWithoutContext(
      "DroppedMpdu",
      ns3::Callback<void, ns3::WifiMacDropReason, ns3::Ptr<const ns3::WifiMpdu>>(
          [this](ns3::WifiMacDropReason reason, ns3::Ptr<const ns3::WifiMpdu> frame) {
            frame_dropped(reason, frame);
          }));
  hosts_.Get(node)->GetObject<ns3::TrafficControlLayer>()->TraceConnectWithoutContext(
      "TcDrop", ns3::Callback<void, Packets>(
                    [this](Packets lost) { packet_dropped(lost, DropReason::queue_full); }));
  device->GetPhy()->GetState()->TraceConnectWithoutContext(
      "RxOk", ns3::Callback<void, Packets, double, ns3::WifiMode, ns3::WifiPreamble>(
                  [this, node](Packets frame, double, ns3::WifiMode, ns3::WifiPreamble preamble) {
                    each_packet(*frame, [&](PacketId id) {
                      fates().received(id, node, sequence_of(*frame, preamble), now());
                    });
                  }));
}

Result<void> Wifi::check_packet(const Packet& packet) const {
  if (streams(packet) || packet.bytes.size() <= kLongestDatagram) return success();
  return bad(Code::invalid_config,
             "a packet of " + std::to_string(packet.bytes.size()) +
                 " bytes does not fit into a datagram: send less, or send to one node over tcp");
}

void Wifi::enter(const Packet& packet) {
  if (streams(packet)) {
    streams_->send(packet);
  } else {
    send_datagram(packet);
  }
}

void Wifi::send_datagram(const Packet& packet) {
  const auto carrier =
      ns3::Create<ns3::Packet>(reinterpret_cast<const std::uint8_t*>(packet.bytes.data()),
                               static_cast<std::uint32_t>(packet.bytes.size()));
  carrier->AddPacketTag(PacketTag(packet.id));
  const auto to =
      packet.to == kEveryone ? ns3::Ipv4Address(kNet + (1U << 24) - 1) : addresses_[packet.to];
  if (sockets_[packet.from]->SendTo(carrier, 0, ns3::InetSocketAddress(to, kPort)) < 0) {
    fates().all_dropped(packet.id, now(), DropReason::other);
  }
}

void Wifi::receive(NodeId node, const ns3::Ptr<ns3::Socket>& socket) {
  while (const ns3::Ptr<ns3::Packet> packet = socket->Recv()) {
    PacketTag tag;
    if (!packet->PeekPacketTag(tag)) continue;
    std::vector<std::byte> bytes(packet->GetSize());
    packet->CopyData(reinterpret_cast<std::uint8_t*>(bytes.data()), packet->GetSize());
    fates().delivered(tag.id(), node, now(), Buffer::adopt(std::move(bytes)));
  }
}

void Wifi::packet_dropped(const ns3::Ptr<const ns3::Packet>& packet, DropReason reason) {
  PacketTag tag;
  if (packet->PeekPacketTag(tag)) fates().all_dropped(tag.id(), now(), reason);
}

void Wifi::frame_dropped(ns3::WifiMacDropReason reason,
                         const ns3::Ptr<const ns3::WifiMpdu>& frame) {
  if (reason != ns3::WIFI_MAC_DROP_REACHED_RETRY_LIMIT) {
    const bool full = reason == ns3::WIFI_MAC_DROP_FAILED_ENQUEUE;
    return packet_dropped(frame->GetPacket(), full ? DropReason::queue_full : DropReason::other);
  }
  PacketTag tag;
  if (!frame->GetPacket()->PeekPacketTag(tag)) return;
  fates().given_up(tag.id(), now(), frame->GetHeader().GetSequenceNumber());
}

}  // namespace

std::unique_ptr<Ns3Radio> make_ns3::wifi(Ns3Options options, Scene scene) {
  return std::make_unique<Wifi>(std::move(options), std::move(scene));
}

}  // namespace hyphos::cosim
