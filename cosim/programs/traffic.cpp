#include "cosim/programs/traffic.hpp"

#include <algorithm>

namespace hyphos::cosim {

Traffic::Traffic(const TrafficOptions& options, const Scene& scene)
    : via_(options.via), scene_(scene) {
  for (const FlowOptions& flow : options.flows) {
    const auto number = static_cast<std::uint16_t>(flows_.size());
    flows_.push_back(make_flow(flow, number, options.nodes, options.seed));
  }
}

Time Traffic::next_event_time() const {
  Time next = kNever;
  for (const auto& flow : flows_) next = std::min(next, flow->next_event_time());
  return next;
}

void Traffic::step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
                   Outbox& outbox) {
  Instant at(now, poses, scene_, outbox, via_);
  for (const Delivery& delivery : inbox) receive(at, delivery, outbox);
  for (const auto& flow : flows_) {
    if (flow->next_event_time() <= now) flow->step(at);
  }
}

void Traffic::receive(Instant& at, const Delivery& delivery, Outbox& outbox) {
  const auto header = read_header(delivery.bytes.bytes());
  if (!header || header->flow >= flows_.size()) return;
  // The first of two hops ends at the master. No packet passes the master twice.
  if (delivery.to == via_ && delivery.from == header->from && header->to != via_) {
    outbox.send(via_, header->to, delivery.bytes);
    if (delivery.parts) {
      DelayParts parts = *delivery.parts;
      parts.processing = parts.processing + (at.now() - delivery.delivered);
      relayed_.insert_or_assign(std::tuple(header->flow, header->kind, header->sequence), parts);
    }
    if (header->to != kEveryone) return;
  }
  if (delivery.to == header->from) return;
  const auto relayed = relayed_.find(std::tuple(header->flow, header->kind, header->sequence));
  if (relayed == relayed_.end() || !delivery.parts || delivery.from != via_) {
    return flows_[header->flow]->receive(at, delivery, *header);
  }
  Delivery whole = delivery;
  *whole.parts += relayed->second;
  flows_[header->flow]->receive(at, whole, *header);
}

std::vector<FlowResult> Traffic::results() const {
  std::vector<FlowResult> results;
  results.reserve(flows_.size());
  for (const auto& flow : flows_) results.push_back(flow->result());
  return results;
}

}  // namespace hyphos::cosim
