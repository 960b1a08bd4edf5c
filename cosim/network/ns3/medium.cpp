#include "cosim/network/ns3/medium.hpp"

#include <algorithm>

#include "ns3/interference-helper.h"
#include "ns3/simulator.h"
#include "ns3/wifi-psdu.h"
#include "ns3/wifi-utils.h"
#include "ns3/yans-wifi-channel.h"

namespace hyphos::cosim {
namespace {

// The longest time for which the power of a jammer stays as it is while robots move.
constexpr Duration kLongestBurst = Duration::from_ms(5);
// A frame with 1,500 bytes of IP lasts 2.1 ms at 6 Mbit/s.
constexpr Duration kLongestFrame = Duration::from_ms(5);

Time now() { return {ns3::Simulator::Now().GetNanoSeconds()}; }

Duration delay_over(double distance_m) {
  return {ns3::Seconds(distance_m / kSpeedOfLight).GetNanoSeconds()};
}

}  // namespace

NS_OBJECT_ENSURE_REGISTERED(RadioPhy);

ns3::TypeId RadioPhy::GetTypeId() {
  static const ns3::TypeId id = ns3::TypeId("hyphos::cosim::RadioPhy")
                                    .SetParent<ns3::YansWifiPhy>()
                                    .AddConstructor<RadioPhy>();
  return id;
}

void RadioPhy::StartTx(ns3::Ptr<const ns3::WifiPpdu> ppdu, const ns3::WifiTxVector&) {
  medium_->send(node_, ppdu);
}

void RadioPhy::jam(ns3::Time duration, double power_w) {
  ns3::RxPowerWattPerChannelBand watts{{{0, 0}, power_w}};
  m_interference->AddForeignSignal(duration, watts);
  SwitchMaybeToCcaBusy(nullptr);
}

RadioPhyHelper::RadioPhyHelper() {
  for (ns3::ObjectFactory& phy : m_phy) phy.SetTypeId(RadioPhy::GetTypeId());
  // ns-3's devices need a channel. Nothing is sent over this one.
  SetChannel(ns3::CreateObject<ns3::YansWifiChannel>());
}

void Medium::init(const RadioModel& model, Models models,
                  const std::vector<ns3::Ptr<RadioPhy>>& phys) {
  model_.emplace(model);
  phys_ = phys;
  for (NodeId node = 0; node < phys_.size(); ++node) phys_[node]->attach(*this, node);
  around_.resize(phys_.size());
  const std::vector<Pose> poses(phys_.size());
  propagation_.init(model, models, static_cast<std::uint32_t>(phys_.size()));
  cells_.reset(model.range_m());
  set_poses(poses);
}

void Medium::set_poses(std::span<const Pose> poses) {
  propagation_.set_poses(poses);
  cells_.place(poses);
}

/// Finds the receivers, ordered by node number. Events of one instant run in the order of their
/// creation, which must not depend on the positions of the robots.
void Medium::reach(NodeId from, const ns3::Ptr<const ns3::WifiPpdu>& ppdu) {
  const Vec3 here = propagation_.pose(from).position;
  near_.clear();
  cells_.around(here, [&](NodeId node) {
    if (node != from) near_.push_back(node);
  });
  std::ranges::sort(near_);
  reached_.clear();
  for (const NodeId node : near_) {
    const auto power = propagation_.received_dbm(from, node, now());
    if (!power) continue;
    reached_.push_back({node, *power, length(propagation_.pose(node).position - here)});
  }
  const Time start = now();
  const Duration lasts{ppdu->GetTxDuration().GetNanoSeconds()};
  const auto note = [&](NodeId node, Time begin) {
    std::erase_if(around_[node],
                  [&](const OnAir& other) { return other.end + kLongestFrame < start; });
    around_[node].push_back({begin, begin + lasts, from});
  };
  note(from, start);
  for (const Reached& at : reached_) {
    const Duration after = delay_over(at.distance_m);
    const ns3::Time delay = ns3::NanoSeconds(after.ns);
    note(at.node, start + after);
    const ns3::Ptr<ns3::WifiPpdu> copy = ppdu->Copy();
    ns3::Simulator::ScheduleWithContext(
        at.node, delay,
        [this, node = at.node, copy, power = at.power_dbm] { arrive(node, copy, power); });
  }
}

void Medium::start_jammers(std::uint64_t seed) {
  if (model_->named() == nullptr) return;
  jammers_ = Jammers(model_->options().jammers, *model_->named(),
                     static_cast<std::uint32_t>(phys_.size()), seed);
  for (std::size_t i = 0; i < jammers_.size(); ++i) {
    const Time start = jammers_.on(i, {}) ? Time{} : jammers_.next_change(i, {});
    ns3::Simulator::ScheduleWithContext(ns3::Simulator::NO_CONTEXT, ns3::NanoSeconds(start.ns),
                                        [this, i] { jam(i); });
  }
}

/// Sends a burst of a jammer, or a part of it, and schedules the next one.
void Medium::jam(std::size_t jammer) {
  const Time start = now();
  const Time off = jammers_.next_change(jammer, start);
  const Time end = std::min(off, start + kLongestBurst);
  for (NodeId node = 0; node < phys_.size(); ++node) {
    const double power = jammers_.power_mw(jammer, node, propagation_.poses(), start);
    if (power > 0) phys_[node]->jam(ns3::NanoSeconds((end - start).ns), power * 1e-3);
  }
  const Time next = end < off ? end : jammers_.next_change(jammer, off);
  ns3::Simulator::Schedule(ns3::NanoSeconds((next - start).ns), [this, jammer] { jam(jammer); });
}

void Medium::arrive(NodeId to, const ns3::Ptr<ns3::WifiPpdu>& ppdu, double power_dbm) {
  ns3::RxPowerWattPerChannelBand watts{{{0, 0}, ns3::DbmToW(power_dbm)}};
  phys_[to]->StartReceivePreamble(ppdu, watts, ppdu->GetTxDuration());
}

void Medium::send(NodeId from, const ns3::Ptr<const ns3::WifiPpdu>& ppdu) {
  reach(from, ppdu);
  const ns3::Ptr<const ns3::WifiPsdu> psdu = ppdu->GetPsdu();
  const ns3::WifiMacHeader& header = psdu->GetHeader(0);
  if (!header.IsData()) return;
  const Time start = now();
  each_packet(*psdu->GetPayload(0), [&](PacketId id) {
    fates_.transmitted(id, start);
    for (const Reached& at : reached_)
      fates_.reaches(id, at.node, start, delay_over(at.distance_m));
  });
  PacketTag tag;
  if (!psdu->GetPayload(0)->PeekPacketTag(tag)) return;
  for (const Reached& at : reached_) {
    if (detectable(at.power_dbm)) fates_.heard(tag.id(), at.node, start, at.power_dbm);
  }
  if (!header.GetAddr1().IsGroup()) return;
  Broadcast frame{tag.id(), header.GetSequenceNumber(), start,
                  start + Duration{ppdu->GetTxDuration().GetNanoSeconds()}};
  double farthest = 0;
  for (const Reached& at : reached_) {
    frame.heard_at.push_back(at.node);
    if (detectable(at.power_dbm)) frame.detectable_at.push_back(at.node);
    farthest = std::max(farthest, at.distance_m);
  }
  fates_.dropped_but(frame.id, start, DropReason::out_of_range,
                     [&](NodeId node) { return std::ranges::binary_search(frame.heard_at, node); });
  // One nanosecond after the last receiver has the frame.
  const ns3::Time judged =
      ppdu->GetTxDuration() + ns3::Seconds(farthest / kSpeedOfLight) + ns3::NanoSeconds(2);
  ns3::Simulator::Schedule(judged, [this, frame, from] { judge(frame, from); });
}

/// Frames to everyone are not acknowledged. A node in range that does not have the frame by now has
/// lost it.
void Medium::judge(const Broadcast& frame, NodeId from) {
  for (const NodeId node : frame.heard_at) {
    if (fates_.has_received(frame.id, node, frame.sequence)) continue;
    DropReason reason = DropReason::collision;
    if (!std::ranges::binary_search(frame.detectable_at, node)) {
      reason = DropReason::out_of_range;
    } else if (!disturbed(node, from, frame)) {
      reason = DropReason::channel_error;
    }
    fates_.dropped(frame.id, node, now(), reason);
  }
}

/// True if the preamble is detected more often than not, without interference.
bool Medium::detectable(double power_dbm) const {
  return model_->detection(power_dbm - model_->noise_dbm()) >= 0.5;
}

bool Medium::disturbed(NodeId node, NodeId from, const Broadcast& frame) const {
  return std::ranges::any_of(around_[node], [&](const OnAir& other) {
    return other.from != from && other.start < frame.end && frame.start < other.end;
  });
}

}  // namespace hyphos::cosim
