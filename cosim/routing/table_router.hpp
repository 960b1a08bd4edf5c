#pragma once

#include <map>

#include "cosim/routing/router.hpp"

namespace hyphos::cosim::routing {

/// Routes from a table that does not change. Without an entry a packet goes to its receiver
/// directly.
class TableRouter final : public Router {
 public:
  /// The next node by receiver.
  using Table = std::map<NodeId, NodeId>;

  TableRouter(NodeId self, Table table) : self_(self), table_(std::move(table)) {}

  void send(Time now, Datagram datagram, Actions& actions) override;
  void receive(Time now, NodeId from, const Decoded& packet, Actions& actions) override;
  void fail(Time now, NodeId to, const Decoded& packet, Actions& actions) override;
  void wake(Time, Actions&) override {}
  Time next_event_time() const override { return kNever; }
  NodeId next_hop(Time now, NodeId to) override;

 private:
  NodeId self_;
  Table table_;
};

}  // namespace hyphos::cosim::routing
