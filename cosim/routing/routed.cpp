#include "cosim/routing/routed.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::cosim::routing {

Routed::Routed(std::unique_ptr<Programs> programs, std::vector<std::unique_ptr<Router>> routers,
               bool reports)
    : programs_(std::move(programs)),
      routers_(std::move(routers)),
      results_(routers_.size()),
      reports_(reports) {}

Time Routed::next_event_time() const { return std::min(next_, programs_->next_event_time()); }

void Routed::plan() {
  next_ = kNever;
  for (const auto& router : routers_) next_ = std::min(next_, router->next_event_time());
}

/// Carries out the actions of a router. `delivery` is their cause, if it is a packet.
void Routed::apply(NodeId node, const Delivery* delivery, Actions& actions) {
  for (Actions::Send& send : actions.sends) {
    leaving_.push_back({node, send.to, std::move(send.bytes)});
  }
  for (Datagram& datagram : actions.arrived) {
    arrived_.push_back({delivery->id, datagram.from, node, delivery->sent, delivery->delivered,
                        std::move(datagram.bytes)});
  }
  for (const RouteDrop drop : actions.drops) ++results_[node].drops[static_cast<std::size_t>(drop)];
}

void Routed::take(Time now, const Delivery& delivery) {
  const bool failed = delivery.failed != DropReason::none;
  const NodeId node = failed ? delivery.from : delivery.to;
  Actions actions;
  const auto packet = decode(delivery.bytes, static_cast<std::uint32_t>(routers_.size()));
  if (!packet) {
    actions.drops.push_back(RouteDrop::malformed);
    return apply(node, &delivery, actions);
  }
  const auto* datagram = std::get_if<Datagram>(&packet->message);
  if (failed) {
    // A full queue is no broken link.
    if (delivery.failed != DropReason::queue_full) {
      routers_[node]->fail(now, delivery.to, *packet, actions);
    }
  } else if (datagram != nullptr && datagram->to == kEveryone) {
    arrived_.push_back(
        {delivery.id, datagram->from, node, delivery.sent, delivery.delivered, datagram->bytes});
  } else {
    routers_[node]->receive(now, delivery.from, *packet, actions);
    if (datagram != nullptr && datagram->to != node) {
      results_[node].relayed += actions.sends.empty() || !actions.drops.empty() ? 0 : 1;
    }
  }
  apply(node, &delivery, actions);
}

void Routed::send(Time now, NodeId from, NodeId to, Buffer bytes) {
  if (to == kEveryone) {
    leaving_.push_back({from, to, encode(Datagram{from, to, 1, std::move(bytes)})});
    return;
  }
  Actions actions;
  routers_[from]->send(now, Datagram{from, to, 0, std::move(bytes)}, actions);
  apply(from, nullptr, actions);
}

void Routed::step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
                  Outbox& outbox) {
  for (const Delivery& delivery : inbox) take(now, delivery);
  for (NodeId node = 0; node < routers_.size(); ++node) {
    if (routers_[node]->next_event_time() > now) continue;
    Actions actions;
    routers_[node]->wake(now, actions);
    apply(node, nullptr, actions);
  }
  if (!arrived_.empty() || programs_->next_event_time() <= now) {
    programs_->step(now, arrived_, poses, inner_);
    arrived_.clear();
    for (const Outbox::Steering& told : inner_.steering()) outbox.steer(told.robot, told.motion);
    inner_.steering().clear();
    for (Outbox::Item& item : inner_.items()) {
      send(now, item.from, item.to, std::move(item.bytes));
    }
    inner_.items().clear();
  }
  for (Outbox::Item& item : leaving_) outbox.send(item.from, item.to, std::move(item.bytes));
  leaving_.clear();
  plan();
}

const std::vector<Routed::Results>& Routed::results() {
  for (NodeId node = 0; node < routers_.size(); ++node) {
    results_[node].counts = routers_[node]->counts();
  }
  return results_;
}

}  // namespace hyphos::cosim::routing
