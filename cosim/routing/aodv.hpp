#pragma once

#include <deque>
#include <map>
#include <set>
#include <utility>

#include "cosim/routing/route_table.hpp"
#include "cosim/routing/router.hpp"

namespace hyphos::cosim::routing {

/// The parameters of RFC 3561, 10, with its defaults.
struct AodvOptions {
  Duration active_route = Duration::from_ms(3000);
  Duration node_traversal = Duration::from_ms(40);
  std::uint8_t net_diameter = 35;
  unsigned request_retries = 2;
  unsigned request_rate = 10;  ///< requests per second of one node, without relayed ones
  std::uint8_t ttl_start = 1;
  std::uint8_t ttl_increment = 2;
  std::uint8_t ttl_threshold = 7;
  std::uint8_t timeout_buffer = 2;
  Duration hello{0};  ///< interval of hello messages. 0: none, links break by fail() alone
  unsigned allowed_hello_loss = 2;
  /// Longest random delay before a request is relayed (RFC 5148). Otherwise the neighbours of a
  /// node would all relay at once.
  Duration jitter = Duration::from_ms(10);
  std::size_t buffer = 64;  ///< packets of one node that wait for routes

  [[nodiscard]] Duration net_traversal() const { return node_traversal * (2 * net_diameter); }
};

/// The ad hoc on-demand distance vector protocol, RFC 3561: requests with an expanding ring,
/// replies of the destination and of nodes with a recent route, errors to precursors, hello
/// messages.
///
/// Every decision depends on the calls and the seed only. Left out: local repair, multicast,
/// RREP-ACK with the blacklist, and gratuitous replies. RouteTable describes the two rules that
/// differ from the RFC, so that no loop can form.
class Aodv final : public Router {
 public:
  Aodv(NodeId self, const AodvOptions& options, std::uint64_t seed);

  void send(Time now, Datagram datagram, Actions& actions) override;
  void receive(Time now, NodeId from, const Decoded& packet, Actions& actions) override;
  void fail(Time now, NodeId to, const Decoded& packet, Actions& actions) override;
  void wake(Time now, Actions& actions) override;
  Time next_event_time() const override;
  NodeId next_hop(Time now, NodeId to) override;
  Counts counts() const override { return counts_; }

 private:
  struct Search {
    std::uint8_t ttl = 0;
    unsigned repeats = 0;  // requests with the full diameter
    Time deadline;         // of the current request, or the time of the next one
    bool waits = false;    // for the rate limit
    std::deque<Datagram> packets;
  };
  struct Delayed {
    Time due;
    std::uint64_t order = 0;
    RouteRequest request;
    std::uint8_t hops_left = 0;

    auto operator<=>(const Delayed& other) const {
      return std::tie(due, order) <=> std::tie(other.due, other.order);
    }
    bool operator==(const Delayed& other) const { return order == other.order; }
  };

  void take_request(Time now, NodeId from, RouteRequest request, std::uint8_t hops_left,
                    Actions& actions);
  bool answer(Time now, NodeId from, const RouteRequest& request, Actions& actions);
  void take_reply(Time now, NodeId from, const RouteReply& reply, std::uint8_t hops_left,
                  Actions& actions);
  void take_error(Time now, NodeId from, const RouteError& error, Actions& actions);
  void relay(Time now, NodeId from, Datagram datagram, Actions& actions);
  void forward(Time now, const Route& route, const Datagram& datagram, Actions& actions);
  void search(Time now, Datagram datagram, Actions& actions);
  void request(Time now, NodeId destination, Search& search, Actions& actions);
  void go_on_searching(Time now, Actions& actions);
  void found(Time now, NodeId destination, Actions& actions);
  void lose_link(Time now, NodeId to, Actions& actions);
  void report(const std::vector<RouteTable::Ended>& ended, Actions& actions);
  void send_error(NodeId to, std::vector<RouteError::Lost> lost, Actions& actions);
  void greet(Time now, Actions& actions);
  void miss(Time now, Actions& actions);
  [[nodiscard]] bool may_request(Time now, Time& from);
  [[nodiscard]] Duration drawn(Duration most);

  NodeId self_;
  AodvOptions options_;
  std::uint64_t seed_;
  std::uint64_t draws_ = 0;
  std::uint32_t sequence_ = 0;  // own
  std::uint32_t request_id_ = 0;
  RouteTable routes_;
  std::map<NodeId, Search> searches_;
  std::size_t buffered_ = 0;
  std::set<Delayed> delayed_;
  std::uint64_t order_ = 0;
  std::map<std::pair<NodeId, std::uint32_t>, Time> seen_;  // requests, until they are forgotten
  std::deque<Time> requested_;                             // the latest own requests
  std::map<NodeId, Time> heard_;                           // last hello message by neighbour
  Time hello_at_;
  Counts counts_;
};

}  // namespace hyphos::cosim::routing
