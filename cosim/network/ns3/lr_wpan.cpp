// 802.15.4 of ns-3.

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "cosim/network/ns3/node_place.hpp"
#include "cosim/network/ns3/ns3_radio.hpp"
#include "cosim/network/ns3/propagation.hpp"
#include "cosim/radio/decibels.hpp"
#include "ns3/lr-wpan-csmaca.h"
#include "ns3/lr-wpan-net-device.h"
#include "ns3/lr-wpan-spectrum-value-helper.h"
#include "ns3/node-container.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/simulator.h"
#include "ns3/single-model-spectrum-channel.h"

namespace hyphos::cosim {
namespace {

constexpr std::uint32_t kChannel = 11;
constexpr std::uint16_t kPan = 1;
constexpr std::size_t kFragmentHeader = 5;
constexpr std::uint32_t kMostNodes = 0xfffd;
constexpr double kNothingDb = -1000;

/// Our Propagation as a model of ns-3.
class ChannelLoss final : public ns3::PropagationLossModel {
 public:
  ChannelLoss(const Propagation& propagation, double tx_power_dbm)
      : propagation_(propagation), tx_power_dbm_(tx_power_dbm) {}

 private:
  double DoCalcRxPower(double power_dbm, ns3::Ptr<ns3::MobilityModel> from,
                       ns3::Ptr<ns3::MobilityModel> to) const override {
    const Time now{ns3::Simulator::Now().GetNanoSeconds()};
    const auto received = propagation_.received_dbm(NodePlace::of(from), NodePlace::of(to), now);
    return power_dbm + (received ? *received - tx_power_dbm_ : kNothingDb);
  }
  std::int64_t DoAssignStreams(std::int64_t /*stream*/) override { return 0; }

  const Propagation& propagation_;
  double tx_power_dbm_;
};

/// Scales a spectrum to this power inside the channel.
ns3::Ptr<ns3::SpectrumValue> with_power(const ns3::Ptr<ns3::SpectrumValue>& spectrum, double dbm) {
  const double watts = to_mw(dbm) * 1e-3;
  *spectrum *= watts / ns3::LrWpanSpectrumValueHelper::TotalAvgPower(spectrum, kChannel);
  return spectrum;
}

ns3::Mac16Address address_of(NodeId node) {
  const auto number = static_cast<std::uint16_t>(node + 1);
  const std::uint8_t bytes[2] = {static_cast<std::uint8_t>(number >> 8),
                                 static_cast<std::uint8_t>(number & 0xff)};
  ns3::Mac16Address address;
  address.CopyFrom(bytes);
  return address;
}

/// Receivers, and CSMA-CA without beacons. A packet that exceeds one frame is sent as several
/// frames with a header of 6LoWPAN each, and arrives only as a whole.
///
/// ns-3 has no IPv4 over 802.15.4, so packets go to the MAC directly. Their sizes are those of the
/// analytic radio.
class LrWpan final : public Ns3Radio {
 public:
  LrWpan(Ns3Options options, Scene scene) : Ns3Radio(std::move(options), std::move(scene)) {}
  ~LrWpan() override;

 private:
  /// A packet at its sender, and the number of its next frame.
  struct Sending {
    Packet packet;
    std::size_t frame = 0;
  };

  Result<void> check_setup(std::uint32_t nodes) const override;
  Result<void> make(const RadioModel& model, std::uint64_t seed) override;
  Result<void> place(std::span<const Pose> poses) override;
  void enter(const Packet& packet) override;

  void make_device(NodeId node, const RadioModel& model);
  void send_frame(NodeId node);
  void confirmed(NodeId node, ns3::LrWpanMcpsDataConfirmStatus status);
  void on_air(NodeId node, const ns3::Ptr<const ns3::Packet>& frame);
  void received(NodeId node, const ns3::Ptr<ns3::Packet>& frame);
  [[nodiscard]] std::size_t frames_of(const Packet& packet) const;
  void next(NodeId node);
  void judge(PacketId id, NodeId from);

  std::optional<RadioModel> model_;
  Propagation propagation_;
  ns3::Ptr<ns3::SingleModelSpectrumChannel> channel_;
  ns3::NodeContainer hosts_;
  std::vector<ns3::Ptr<ns3::LrWpanNetDevice>> devices_;
  std::vector<ns3::Ptr<NodePlace>> places_;
  std::vector<std::deque<Sending>> queues_;
  /// The frames that each node has of the packet that a sender is sending.
  std::vector<std::vector<std::size_t>> have_;  // [sender][receiver]
};

LrWpan::~LrWpan() {
  for (const auto& device : devices_) {
    device->GetMac()->SetMcpsDataConfirmCallback(ns3::McpsDataConfirmCallback());
    device->GetMac()->SetMcpsDataIndicationCallback(ns3::McpsDataIndicationCallback());
  }
  end();
}

Result<void> LrWpan::check_setup(std::uint32_t nodes) const {
  if (nodes <= kMostNodes) return success();
  return bad(Code::invalid_config, "too many nodes for short addresses");
}

Result<void> LrWpan::make(const RadioModel& model, std::uint64_t /*seed*/) {
  model_.emplace(model);
  queues_.resize(nodes());
  have_.assign(nodes(), std::vector<std::size_t>(nodes()));
  propagation_.init(model, options().models, nodes());
  channel_ = ns3::CreateObject<ns3::SingleModelSpectrumChannel>();
  channel_->AddPropagationLossModel(
      ns3::CompleteConstruct(new ChannelLoss(propagation_, model.options().tx_power_dbm)));
  const auto delay = ns3::CreateObject<ns3::ConstantSpeedPropagationDelayModel>();
  delay->SetSpeed(kSpeedOfLight);
  channel_->SetPropagationDelayModel(delay);
  hosts_.Create(nodes());
  for (NodeId node = 0; node < nodes(); ++node) make_device(node, model);
  // Receivers turn on within a turnaround time of 0.2 ms.
  if (auto ran = simulator().run_before({10'000'000}); !ran) return ran;
  return simulator().restart();
}

void LrWpan::make_device(NodeId node, const RadioModel& model) {
  const auto device = ns3::CreateObject<ns3::LrWpanNetDevice>();
  devices_.push_back(device);
  places_.push_back(ns3::CompleteConstruct(new NodePlace(node)));
  device->SetChannel(channel_);
  device->GetPhy()->SetMobility(places_.back());
  hosts_.Get(node)->AddDevice(device);
  device->SetAddress(address_of(node));
  const auto mac = device->GetMac();
  mac->SetPanId(kPan);
  mac->SetMacMaxFrameRetries(static_cast<std::uint8_t>(model.options().retry_limit - 1));
  ns3::LrWpanSpectrumValueHelper spectra;
  const auto phy = device->GetPhy();
  phy->SetTxPowerSpectralDensity(
      with_power(spectra.CreateTxPowerSpectralDensity(0, kChannel), model.options().tx_power_dbm));
  phy->SetNoisePowerSpectralDensity(
      with_power(spectra.CreateNoisePowerSpectralDensity(kChannel), model.noise_dbm()));
  device->AssignStreams(static_cast<std::int64_t>(node) * 8);
  phy->TraceConnectWithoutContext(
      "PhyTxBegin", ns3::Callback<void, ns3::Ptr<const ns3::Packet>>(
                        [this, node](ns3::Ptr<const ns3::Packet> frame) { on_air(node, frame); }));
  mac->SetMcpsDataConfirmCallback(ns3::McpsDataConfirmCallback(
      [this, node](ns3::McpsDataConfirmParams params) { confirmed(node, params.m_status); }));
  mac->SetMcpsDataIndicationCallback(ns3::McpsDataIndicationCallback(
      [this, node](ns3::McpsDataIndicationParams, ns3::Ptr<ns3::Packet> frame) {
        received(node, frame);
      }));
}

Result<void> LrWpan::place(std::span<const Pose> poses) {
  propagation_.set_poses(poses);
  for (std::size_t node = 0; node < poses.size(); ++node) {
    const Vec3& at = poses[node].position;
    places_[node]->SetPosition({at.x, at.y, at.z});
  }
  return success();
}

void LrWpan::enter(const Packet& packet) {
  auto& queue = queues_[packet.from];
  if (queue.size() >= options().radio.queue_packets) {
    return fates().all_dropped(packet.id, now(), DropReason::queue_full);
  }
  queue.push_back({packet});
  if (queue.size() == 1) send_frame(packet.from);
}

std::size_t LrWpan::frames_of(const Packet& packet) const {
  const RadioKind& kind = model_->named()->kind();
  const std::size_t bytes = packet.bytes.size() + kind.network_bytes;
  return std::max<std::size_t>(1, (bytes + kind.most_bytes - 1) / kind.most_bytes);
}

/// Sends the next frame of the packet at the head of the queue. Its first bytes are its number.
void LrWpan::send_frame(NodeId node) {
  const Sending& sending = queues_[node].front();
  const Packet& packet = sending.packet;
  const RadioKind& kind = model_->named()->kind();
  if (sending.frame == 0) std::ranges::fill(have_[node], 0);
  const std::size_t whole = packet.bytes.size() + kind.network_bytes;
  const std::size_t part =
      std::min(kind.most_bytes, whole - std::min(whole, sending.frame * kind.most_bytes));
  std::vector<std::uint8_t> bytes(kFragmentHeader + part);
  bytes[0] = static_cast<std::uint8_t>(sending.frame >> 8);
  bytes[1] = static_cast<std::uint8_t>(sending.frame & 0xff);
  const auto frame =
      ns3::Create<ns3::Packet>(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
  frame->AddPacketTag(PacketTag(packet.id));
  const bool everyone = packet.to == kEveryone;
  for (NodeId to = 0; to < devices_.size(); ++to) {
    if (to == node || (!everyone && to != packet.to)) continue;
    const auto power =
        model_->received_dbm(node, propagation_.pose(node), to, propagation_.pose(to), now());
    if (power && model_->detection(*power - model_->noise_dbm()) >= 0.5) {
      fates().heard(packet.id, to, now(), *power);
    }
  }
  ns3::McpsDataRequestParams params;
  params.m_dstPanId = kPan;
  params.m_dstAddr = everyone ? ns3::Mac16Address("ff:ff") : address_of(packet.to);
  params.m_txOptions = everyone ? ns3::TX_OPTION_NONE : ns3::TX_OPTION_ACK;
  devices_[node]->GetMac()->McpsDataRequest(params, frame);
}

/// Acknowledgements have no tag.
void LrWpan::on_air(NodeId node, const ns3::Ptr<const ns3::Packet>& frame) {
  PacketTag tag;
  if (!frame->PeekPacketTag(tag)) return;
  const Vec3 here = propagation_.pose(node).position;
  fates().transmitted(tag.id(), now());
  for (NodeId to = 0; to < devices_.size(); ++to) {
    const double metres = length(propagation_.pose(to).position - here);
    const Duration delay{ns3::Seconds(metres / kSpeedOfLight).GetNanoSeconds()};
    if (to != node) fates().reaches(tag.id(), to, now(), delay);
  }
}

void LrWpan::received(NodeId node, const ns3::Ptr<ns3::Packet>& frame) {
  PacketTag tag;
  std::uint8_t number[2] = {};
  if (!frame->PeekPacketTag(tag) || frame->CopyData(number, 2) < 2) return;
  for (NodeId from = 0; from < queues_.size(); ++from) {
    if (queues_[from].empty() || queues_[from].front().packet.id != tag.id()) continue;
    const Packet& packet = queues_[from].front().packet;
    std::size_t& have = have_[from][node];
    // A frame comes twice if its acknowledgement was lost.
    if (have != static_cast<std::size_t>(number[0] << 8 | number[1])) return;
    fates().received(packet.id, node, static_cast<std::uint16_t>(have), now());
    if (++have == frames_of(packet)) {
      fates().delivered(packet.id, node, now(), packet.bytes);
    }
    return;
  }
}

void LrWpan::confirmed(NodeId node, ns3::LrWpanMcpsDataConfirmStatus status) {
  Sending& sending = queues_[node].front();
  const Packet& packet = sending.packet;
  if (status == ns3::IEEE_802_15_4_SUCCESS && ++sending.frame < frames_of(packet)) {
    ns3::Simulator::ScheduleNow([this, node] { send_frame(node); });
    return;
  }
  if (status == ns3::IEEE_802_15_4_SUCCESS && packet.to == kEveryone) {
    // Longer than the propagation to any receiver in range.
    ns3::Simulator::Schedule(ns3::MicroSeconds(100), [this, node] { next(node); });
    return;
  }
  if (status == ns3::IEEE_802_15_4_CHANNEL_ACCESS_FAILURE) {
    fates().all_dropped(packet.id, now(), DropReason::other);
  }
  ns3::Simulator::ScheduleNow([this, node] { next(node); });
}

/// Ends the packet at the head of the queue.
void LrWpan::next(NodeId node) {
  const Packet packet = queues_[node].front().packet;
  judge(packet.id, node);
  queues_[node].pop_front();
  if (!queues_[node].empty()) send_frame(node);
}

void LrWpan::judge(PacketId id, NodeId from) {
  const Packet& packet = queues_[from].front().packet;
  for (NodeId to = 0; to < devices_.size(); ++to) {
    if (to == from || (packet.to != kEveryone && to != packet.to)) continue;
    const bool heard = fates().heard_at(id, to);
    const DropReason lost =
        packet.to == kEveryone ? DropReason::channel_error : DropReason::retry_limit;
    fates().dropped(id, to, now(), heard ? lost : DropReason::out_of_range);
  }
}

}  // namespace

std::unique_ptr<Ns3Radio> make_ns3::lr_wpan(Ns3Options options, Scene scene) {
  return std::make_unique<LrWpan>(std::move(options), std::move(scene));
}

}  // namespace hyphos::cosim
