#include "cosim/network/ns3/lr_wpan.hpp"

#include <algorithm>
#include <string>

#include "cosim/core/random.hpp"
#include "cosim/radio/decibels.hpp"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/lr-wpan-csmaca.h"
#include "ns3/lr-wpan-spectrum-value-helper.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

namespace hyphos::cosim {
namespace {

constexpr std::uint32_t kChannel = 11;
constexpr std::uint16_t kPan = 1;
constexpr std::size_t kFragmentHeader = 5;
constexpr std::uint32_t kMostNodes = 0xfffd;
constexpr std::uint64_t kHostJitter = 3;  // the purpose of a random draw
constexpr double kNothingDb = -1000;

Time now() { return {ns3::Simulator::Now().GetNanoSeconds()}; }

Error bad(Code code, std::string what) { return {code, std::move(what), "ns3"}; }

/// The place of a node, as ns-3's channel passes it to models of propagation.
class NodePlace final : public ns3::ConstantPositionMobilityModel {
 public:
  explicit NodePlace(NodeId node) : node(node) {}
  const NodeId node;
};

/// Our Propagation as a model of ns-3.
class ChannelLoss final : public ns3::PropagationLossModel {
 public:
  ChannelLoss(const Propagation& propagation, double tx_power_dbm)
      : propagation_(propagation), tx_power_dbm_(tx_power_dbm) {}

 private:
  double DoCalcRxPower(double power_dbm, ns3::Ptr<ns3::MobilityModel> from,
                       ns3::Ptr<ns3::MobilityModel> to) const override {
    const auto node = [](const ns3::Ptr<ns3::MobilityModel>& place) {
      return dynamic_cast<const NodePlace&>(*place).node;
    };
    const auto received = propagation_.received_dbm(node(from), node(to), now());
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

}  // namespace

LrWpanNetwork::~LrWpanNetwork() {
  if (simulator_ == nullptr) return;
  for (const auto& device : devices_) {
    device->GetMac()->SetMcpsDataConfirmCallback(ns3::McpsDataConfirmCallback());
    device->GetMac()->SetMcpsDataIndicationCallback(ns3::McpsDataIndicationCallback());
  }
  ns3::Simulator::Destroy();
}

Result<void> LrWpanNetwork::init(std::uint32_t nodes, std::uint64_t seed) {
  static bool used = false;
  if (used)
    return bad(Code::unsupported, "ns-3 can run only once in a process: start another worker");
  if (options_.transport != Transport::udp) {
    return bad(Code::unsupported, "802.15.4 has no tcp here: write `transport: udp`");
  }
  if (nodes > kMostNodes) return bad(Code::invalid_config, "too many nodes for short addresses");
  auto model = RadioModel::make(options_.radio, &scene_, seed);
  if (!model) return model.error();
  used = true;
  model_.emplace(*model);
  ns3::RngSeedManager::SetSeed(1);
  ns3::RngSeedManager::SetRun(seed);
  simulator_ = ns3::CreateObject<WindowedSimulator>();
  ns3::Simulator::SetImplementation(simulator_);
  fates_.reset(nodes);
  seed_ = seed;
  last_entries_.resize(nodes);
  queues_.resize(nodes);
  have_.assign(nodes, std::vector<std::size_t>(nodes));
  propagation_.init(*model_, options_.models, nodes);
  channel_ = ns3::CreateObject<ns3::SingleModelSpectrumChannel>();
  channel_->AddPropagationLossModel(
      ns3::CompleteConstruct(new ChannelLoss(propagation_, model_->options().tx_power_dbm)));
  const auto delay = ns3::CreateObject<ns3::ConstantSpeedPropagationDelayModel>();
  delay->SetSpeed(kSpeedOfLight);
  channel_->SetPropagationDelayModel(delay);
  nodes_.Create(nodes);
  for (NodeId node = 0; node < nodes; ++node) make_device(node, *model_);
  // Receivers turn on within a turnaround time of 0.2 ms.
  if (auto ran = simulator_->run_before({10'000'000}); !ran) return ran;
  return simulator_->restart();
}

void LrWpanNetwork::make_device(NodeId node, const RadioModel& model) {
  const auto device = ns3::CreateObject<ns3::LrWpanNetDevice>();
  devices_.push_back(device);
  places_.push_back(ns3::CompleteConstruct(new NodePlace(node)));
  device->SetChannel(channel_);
  device->GetPhy()->SetMobility(places_.back());
  nodes_.Get(node)->AddDevice(device);
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

Result<void> LrWpanNetwork::set_poses(std::span<const Pose> poses) {
  if (poses.size() != devices_.size()) {
    return bad(Code::invalid_config, std::to_string(poses.size()) + " poses for " +
                                         std::to_string(devices_.size()) + " nodes");
  }
  propagation_.set_poses(poses);
  for (std::size_t node = 0; node < poses.size(); ++node) {
    const Vec3& at = poses[node].position;
    places_[node]->SetPosition({at.x, at.y, at.z});
  }
  return success();
}

Result<void> LrWpanNetwork::inject(const Packet& packet) {
  const bool everyone = packet.to == kEveryone;
  if (packet.from >= devices_.size() || (!everyone && packet.to >= devices_.size())) {
    return bad(Code::not_found, "no node " + std::to_string(std::max(packet.from, packet.to)));
  }
  if (packet.stamp < now_) {
    return bad(Code::out_of_range, "a packet at " + std::to_string(packet.stamp.ns) +
                                       " ns, but ns-3 is already at " + std::to_string(now_.ns) +
                                       " ns");
  }
  const auto most = static_cast<std::uint64_t>(options_.radio.host_jitter.ns);
  const Duration jitter{
      static_cast<std::int64_t>(draw(seed_, packet.id, kHostJitter, packet.from) % (most + 1))};
  Time& entry = last_entries_[packet.from];
  entry = std::max(entry, packet.stamp + jitter);
  simulator_->inject(entry, packet.id, packet.from, [this, packet] { enter(packet); });
  return success();
}

void LrWpanNetwork::enter(const Packet& packet) {
  fates_.sent(packet, now());
  auto& queue = queues_[packet.from];
  if (queue.size() >= options_.radio.queue_packets) {
    return fates_.all_dropped(packet.id, now(), DropReason::queue_full);
  }
  queue.push_back({packet});
  if (queue.size() == 1) send_frame(packet.from);
}

std::size_t LrWpanNetwork::frames_of(const Packet& packet) const {
  const RadioKind& kind = model_->named()->kind();
  const std::size_t bytes = packet.bytes.size() + kind.network_bytes;
  return std::max<std::size_t>(1, (bytes + kind.most_bytes - 1) / kind.most_bytes);
}

/// Sends the next frame of the packet at the head of the queue. Its first bytes are its number.
void LrWpanNetwork::send_frame(NodeId node) {
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
      fates_.heard(packet.id, to, now(), *power);
    }
  }
  ns3::McpsDataRequestParams params;
  params.m_dstPanId = kPan;
  params.m_dstAddr = everyone ? ns3::Mac16Address("ff:ff") : address_of(packet.to);
  params.m_txOptions = everyone ? ns3::TX_OPTION_NONE : ns3::TX_OPTION_ACK;
  devices_[node]->GetMac()->McpsDataRequest(params, frame);
}

/// Acknowledgements have no tag.
void LrWpanNetwork::on_air(NodeId node, const ns3::Ptr<const ns3::Packet>& frame) {
  PacketTag tag;
  if (!frame->PeekPacketTag(tag)) return;
  const Vec3 here = propagation_.pose(node).position;
  fates_.transmitted(tag.id(), now());
  for (NodeId to = 0; to < devices_.size(); ++to) {
    const double metres = length(propagation_.pose(to).position - here);
    const Duration delay{ns3::Seconds(metres / kSpeedOfLight).GetNanoSeconds()};
    if (to != node) fates_.reaches(tag.id(), to, now(), delay);
  }
}

void LrWpanNetwork::received(NodeId node, const ns3::Ptr<ns3::Packet>& frame) {
  PacketTag tag;
  std::uint8_t number[2] = {};
  if (!frame->PeekPacketTag(tag) || frame->CopyData(number, 2) < 2) return;
  for (NodeId from = 0; from < queues_.size(); ++from) {
    if (queues_[from].empty() || queues_[from].front().packet.id != tag.id()) continue;
    const Packet& packet = queues_[from].front().packet;
    std::size_t& have = have_[from][node];
    // A frame comes twice if its acknowledgement was lost.
    if (have != static_cast<std::size_t>(number[0] << 8 | number[1])) return;
    fates_.received(packet.id, node, static_cast<std::uint16_t>(have), now());
    if (++have == frames_of(packet)) {
      fates_.delivered(packet.id, node, now(), packet.bytes);
    }
    return;
  }
}

void LrWpanNetwork::confirmed(NodeId node, ns3::LrWpanMcpsDataConfirmStatus status) {
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
    fates_.all_dropped(packet.id, now(), DropReason::other);
  }
  ns3::Simulator::ScheduleNow([this, node] { next(node); });
}

/// Ends the packet at the head of the queue.
void LrWpanNetwork::next(NodeId node) {
  const Packet packet = queues_[node].front().packet;
  judge(packet.id, node);
  queues_[node].pop_front();
  if (!queues_[node].empty()) send_frame(node);
}

void LrWpanNetwork::judge(PacketId id, NodeId from) {
  const Packet& packet = queues_[from].front().packet;
  for (NodeId to = 0; to < devices_.size(); ++to) {
    if (to == from || (packet.to != kEveryone && to != packet.to)) continue;
    const bool heard = fates_.heard_at(id, to);
    const DropReason lost =
        packet.to == kEveryone ? DropReason::channel_error : DropReason::retry_limit;
    fates_.dropped(id, to, now(), heard ? lost : DropReason::out_of_range);
  }
}

Result<void> LrWpanNetwork::advance(Time end) {
  if (end < now_) return bad(Code::out_of_range, "asked to end in the past");
  now_ = end;
  return simulator_->run_before(end);
}

Result<void> LrWpanNetwork::poll(std::vector<Outcome>& outcomes) {
  std::ranges::move(fates_.outcomes(), std::back_inserter(outcomes));
  fates_.outcomes().clear();
  return success();
}

}  // namespace hyphos::cosim
