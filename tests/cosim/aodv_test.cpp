#include "cosim/routing/aodv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "cosim/routing/table_router.hpp"

namespace hyphos::cosim::routing {
namespace {

constexpr Duration kTick = Duration::from_ms(1);
constexpr Duration kGiveUp = Duration::from_ms(5);

Time at_ms(std::int64_t ms) { return {ms * 1'000'000}; }

/// Routers on a graph. A packet takes one tick, and a packet to a node that is no neighbour fails
/// after some ticks.
class Mesh {
 public:
  explicit Mesh(std::uint32_t nodes, std::uint64_t seed = 1, const AodvOptions& options = {})
      : numbers_(seed) {
    for (NodeId node = 0; node < nodes; ++node) {
      routers_.push_back(std::make_unique<Aodv>(node, options, seed));
    }
  }

  void link(NodeId a, NodeId b, bool is = true) {
    if (is) {
      links_.insert(std::minmax(a, b));
    } else {
      links_.erase(std::minmax(a, b));
    }
  }
  [[nodiscard]] bool linked(NodeId a, NodeId b) const { return links_.contains(std::minmax(a, b)); }
  void random_links(double share) {
    for (NodeId a = 0; a < size(); ++a) {
      for (NodeId b = a + 1; b < size(); ++b) link(a, b, chance(share));
    }
  }
  [[nodiscard]] bool chance(double share) {
    return std::uniform_real_distribution<>(0, 1)(numbers_) < share;
  }
  [[nodiscard]] NodeId any() {
    return std::uniform_int_distribution<NodeId>(0, size() - 1)(numbers_);
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(routers_.size()); }

  /// Hops of the shortest path. 0: none.
  [[nodiscard]] unsigned distance(NodeId from, NodeId to) const {
    std::vector<unsigned> hops(size(), 0);
    std::vector<NodeId> reached{from};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      for (NodeId next = 0; next < size(); ++next) {
        if (next == from || hops[next] > 0 || !linked(reached[i], next)) continue;
        hops[next] = hops[reached[i]] + 1;
        reached.push_back(next);
      }
    }
    return hops[to];
  }

  void send(NodeId from, NodeId to, const std::string& text = "x") {
    Actions actions;
    routers_[from]->send(now, {from, to, 0, Buffer::copy_of(text)}, actions);
    apply(from, actions);
  }

  void run(Duration lasts, bool checks = true) {
    for (const Time end = now + lasts; now < end;) {
      now = now + kTick;
      for (auto next = coming_.begin(); next != coming_.end() && next->first <= now;) {
        deliver(next->second);
        next = coming_.erase(next);
      }
      for (NodeId node = 0; node < size(); ++node) {
        if (routers_[node]->next_event_time() > now) continue;
        Actions actions;
        routers_[node]->wake(now, actions);
        apply(node, actions);
      }
      if (checks) expect_no_loop();
    }
  }

  void expect_no_loop() {
    for (NodeId to = 0; to < size(); ++to) {
      for (NodeId from = 0; from < size(); ++from) {
        unsigned hops = 0;
        for (NodeId at = from; at != to && at != kEveryone;) {
          at = routers_[at]->next_hop(now, to);
          ASSERT_LE(++hops, size()) << "a loop from " << from << " to " << to << " at " << now.ns;
        }
      }
    }
  }

  Time now;
  double loss = 0;      // of packets to everyone, and of packets to one node as failures
  bool silent = false;  // lost packets are not reported to the sender
  std::vector<Datagram> arrived;
  std::map<RouteDrop, unsigned> drops;
  std::vector<std::uint8_t> ttls;  // of the requests of node 0
  std::uint64_t digest = 0;
  std::vector<std::unique_ptr<Aodv>> routers_;

 private:
  struct Coming {
    NodeId from = 0;
    NodeId to = 0;
    Buffer bytes;
    bool failed = false;
  };

  void apply(NodeId node, Actions& actions) {
    for (Actions::Send& send : actions.sends) {
      const auto packet = decode(send.bytes, size());
      ASSERT_TRUE(packet);
      const auto* request = std::get_if<RouteRequest>(&packet->message);
      if (node == 0 && request != nullptr && request->originator == 0) {
        ttls.push_back(packet->hops_left);
      }
      for (NodeId to = 0; to < size(); ++to) {
        const bool meant = send.to == to || send.to == kEveryone;
        if (!meant || to == node) continue;
        const bool reached = linked(node, to) && !chance(loss);
        if (reached) coming_.emplace(now + kTick, Coming{node, to, send.bytes});
        if (!reached && send.to == to && !silent) {
          coming_.emplace(now + kGiveUp, Coming{node, to, send.bytes, true});
        }
      }
    }
    for (Datagram& datagram : actions.arrived) {
      EXPECT_EQ(datagram.to, node);
      digest = digest * 31 + static_cast<std::uint64_t>(now.ns) + datagram.hops_left;
      arrived.push_back(std::move(datagram));
    }
    for (const RouteDrop drop : actions.drops) ++drops[drop];
  }

  void deliver(const Coming& coming) {
    Actions actions;
    const auto packet = decode(coming.bytes, size());
    const NodeId node = coming.failed ? coming.from : coming.to;
    if (coming.failed) {
      routers_[node]->fail(now, coming.to, *packet, actions);
    } else {
      routers_[node]->receive(now, coming.from, *packet, actions);
    }
    apply(node, actions);
  }

  std::mt19937_64 numbers_;
  std::set<std::pair<NodeId, NodeId>> links_;
  std::multimap<Time, Coming> coming_;
};

TEST(CosimAodv, finds_a_route_whenever_a_path_exists) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Mesh mesh(2 + static_cast<std::uint32_t>(seed % 19), seed);
    mesh.random_links(seed % 3 == 0 ? 0.5 : 0.15);
    const NodeId from = mesh.any();
    const NodeId to = (from + 1) % mesh.size();
    mesh.send(from, to);
    mesh.run(Duration::from_ms(25'000), seed % 4 == 0);
    const unsigned shortest = mesh.distance(from, to);
    if (shortest == 0) {
      EXPECT_TRUE(mesh.arrived.empty()) << seed;
      EXPECT_EQ(mesh.drops[RouteDrop::no_route], 1U) << seed;
      continue;
    }
    ASSERT_EQ(mesh.arrived.size(), 1U) << seed;
    const unsigned hops = 35U - mesh.arrived[0].hops_left + 1U;
    EXPECT_GE(hops, shortest) << seed;
    EXPECT_LE(hops, mesh.size()) << seed;
  }
}

TEST(CosimAodv, no_loop_forms_while_links_break_and_packets_are_lost) {
  std::uint64_t arrived = 0;
  std::uint64_t broken = 0;
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    AodvOptions options;
    if (seed % 2 == 0) options.hello = Duration::from_ms(1000);
    options.active_route = Duration::from_ms(seed % 3 == 0 ? 300 : 3000);  // routes that expire
    Mesh mesh(4 + static_cast<std::uint32_t>(seed % 9), seed, options);
    mesh.silent = seed % 2 == 0;
    mesh.loss = 0.1;
    mesh.random_links(0.4);
    for (int i = 0; i < 200; ++i) {
      // Many senders search for few destinations, so that replies meet on the way.
      for (int sender = 0; sender < 3; ++sender) {
        const NodeId from = 2 + mesh.any() % (mesh.size() - 2);
        mesh.send(from, static_cast<NodeId>(seed / 4 + static_cast<unsigned>(i) % 2) % 2);
      }
      const NodeId a = mesh.any();
      const NodeId b = (a + 1 + mesh.any() % (mesh.size() - 1)) % mesh.size();
      if (mesh.chance(0.3)) mesh.link(a, b, !mesh.linked(a, b));
      mesh.run(Duration::from_ms(mesh.chance(0.1) ? 700 : 25));
      if (HasFatalFailure()) return;
    }
    arrived += mesh.arrived.size();
    for (const auto& router : mesh.routers_) broken += router->counts().broken;
    // The network is stable now: every pair with a path communicates again.
    mesh.loss = 0;
    for (NodeId from = 0; from < mesh.size(); ++from) {
      const NodeId to = (from + 1) % mesh.size();
      if (mesh.distance(from, to) == 0) continue;
      mesh.arrived.clear();
      for (int i = 0; i < 20 && mesh.arrived.empty(); ++i) {
        mesh.send(from, to, "last");
        mesh.run(Duration::from_ms(1000), false);
        std::erase_if(mesh.arrived, [](const Datagram& one) { return one.bytes.text() != "last"; });
      }
      EXPECT_FALSE(mesh.arrived.empty()) << seed << ": " << from << " to " << to;
    }
  }
  EXPECT_GT(arrived, 1000U);
  EXPECT_GT(broken, 100U);
}

TEST(CosimAodv, searches_in_growing_rings_and_gives_up) {
  Mesh mesh(3);
  mesh.link(0, 1);  // node 2 is alone
  mesh.send(0, 2);
  mesh.send(0, 2);
  mesh.run(Duration::from_ms(60'000));
  EXPECT_EQ(mesh.ttls, (std::vector<std::uint8_t>{1, 3, 5, 7, 35, 35, 35}));
  EXPECT_EQ(mesh.drops[RouteDrop::no_route], 2U);
  EXPECT_EQ(mesh.routers_[0]->counts().discoveries, 1U);
  EXPECT_EQ(mesh.routers_[0]->counts().found, 0U);
  EXPECT_EQ(mesh.routers_[0]->next_event_time(), kNever);
}

TEST(CosimAodv, the_destination_of_a_known_distance_is_searched_there_first) {
  Mesh mesh(4);
  for (NodeId node = 0; node < 3; ++node) mesh.link(node, node + 1);
  mesh.send(0, 3);
  mesh.run(Duration::from_ms(20'000));  // the route expires
  ASSERT_EQ(mesh.arrived.size(), 1U);
  mesh.ttls.clear();
  mesh.send(0, 3);
  mesh.run(Duration::from_ms(1000));
  EXPECT_EQ(mesh.ttls, (std::vector<std::uint8_t>{5}));  // three hops and two more
  EXPECT_EQ(mesh.arrived.size(), 2U);
}

TEST(CosimAodv, a_node_with_a_route_replies_for_the_destination) {
  Mesh mesh(4);
  for (NodeId node = 0; node < 3; ++node) mesh.link(node, node + 1);
  mesh.send(1, 3);
  mesh.run(Duration::from_ms(500));
  const auto before = mesh.routers_[3]->counts().replies;
  mesh.send(0, 3);
  mesh.run(Duration::from_ms(500));
  EXPECT_EQ(mesh.arrived.size(), 2U);
  EXPECT_EQ(mesh.routers_[3]->counts().replies, before);
  EXPECT_EQ(mesh.routers_[1]->counts().replies, 1U);
}

TEST(CosimAodv, a_broken_link_is_reported_back_and_another_path_is_found) {
  // 0 - 1 - 2 - 4 and 0 - 3 - 4
  Mesh mesh(5);
  mesh.link(0, 1);
  mesh.link(1, 2);
  mesh.link(2, 4);
  mesh.send(0, 4, "first");
  mesh.run(Duration::from_ms(2000));
  ASSERT_EQ(mesh.arrived.size(), 1U);
  EXPECT_EQ(mesh.routers_[0]->next_hop(mesh.now, 4), 1U);
  mesh.link(0, 3);
  mesh.link(3, 4);
  mesh.link(2, 4, false);
  mesh.send(0, 4, "lost");  // node 2 relays only, and reports the broken link
  mesh.run(Duration::from_ms(100));
  EXPECT_EQ(mesh.drops[RouteDrop::link_broken], 1U);
  EXPECT_EQ(mesh.routers_[2]->counts().errors, 1U);
  EXPECT_EQ(mesh.routers_[1]->counts().errors, 1U);
  EXPECT_EQ(mesh.routers_[0]->next_hop(mesh.now, 4), kEveryone);
  mesh.send(0, 4, "again");
  mesh.run(Duration::from_ms(2000));
  ASSERT_EQ(mesh.arrived.size(), 2U);
  EXPECT_EQ(mesh.arrived[1].bytes.text(), "again");
  EXPECT_EQ(mesh.routers_[0]->next_hop(mesh.now, 4), 3U);
}

TEST(CosimAodv, the_sender_keeps_a_packet_whose_first_hop_is_broken) {
  Mesh mesh(4);  // 0 - 1 - 3 and 0 - 2 - 3
  mesh.link(0, 1);
  mesh.link(1, 3);
  mesh.send(0, 3);
  mesh.run(Duration::from_ms(1000));
  mesh.link(0, 1, false);
  mesh.link(0, 2);
  mesh.link(2, 3);
  mesh.send(0, 3, "kept");
  mesh.run(Duration::from_ms(3000));
  ASSERT_EQ(mesh.arrived.size(), 2U);
  EXPECT_EQ(mesh.arrived[1].bytes.text(), "kept");
  EXPECT_TRUE(mesh.drops.empty());
}

TEST(CosimAodv, missing_hello_messages_break_a_link) {
  AodvOptions options;
  options.hello = Duration::from_ms(500);
  Mesh mesh(4, 1, options);
  mesh.silent = true;  // no acknowledgements
  mesh.link(0, 1);
  mesh.link(1, 3);
  for (int i = 0; i < 30; ++i) {
    mesh.send(0, 3);
    mesh.run(Duration::from_ms(100));
  }
  ASSERT_GT(mesh.arrived.size(), 20U);
  mesh.link(1, 3, false);
  mesh.link(0, 2);
  mesh.link(2, 3);
  mesh.arrived.clear();
  for (int i = 0; i < 60; ++i) {
    mesh.send(0, 3);
    mesh.run(Duration::from_ms(100));
  }
  EXPECT_GT(mesh.arrived.size(), 20U);
  EXPECT_EQ(mesh.routers_[0]->next_hop(mesh.now, 3), 2U);
  EXPECT_GT(mesh.routers_[0]->counts().hellos, 5U);
}

TEST(CosimAodv, memory_and_rate_of_searches_are_bounded) {
  Mesh mesh(40);
  for (int i = 0; i < 100; ++i) mesh.send(0, 1 + i % 39U);
  EXPECT_EQ(mesh.drops[RouteDrop::buffer_full], 36U);
  EXPECT_EQ(mesh.ttls.size(), 10U);
  mesh.run(Duration::from_ms(999), false);
  EXPECT_EQ(mesh.ttls.size(), 10U);
  mesh.run(Duration::from_ms(10'000), false);
  EXPECT_LE(mesh.ttls.size(), 120U);
  mesh.run(Duration::from_ms(200'000), false);
  EXPECT_EQ(mesh.drops[RouteDrop::no_route], 64U);
  EXPECT_EQ(mesh.routers_[0]->next_event_time(), kNever);
}

TEST(CosimAodv, the_same_calls_and_seed_give_the_same_run) {
  const auto run = [](std::uint64_t seed) {
    Mesh mesh(12, 7);
    for (NodeId node = 0; node < mesh.size(); ++node) {
      mesh.routers_[node] = std::make_unique<Aodv>(node, AodvOptions{}, seed);
    }
    mesh.random_links(0.3);
    for (int i = 0; i < 40; ++i) {
      mesh.send(mesh.any() / 2, 6 + mesh.any() / 2);
      mesh.run(Duration::from_ms(40), false);
    }
    return mesh.digest;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(CosimAodv, sequence_numbers_wrap_around) {
  EXPECT_TRUE(newer(1, 0));
  EXPECT_FALSE(newer(0, 0));
  EXPECT_TRUE(newer(0, 0xffffffff));
  EXPECT_FALSE(newer(0x80000001, 0));
}

TEST(CosimRouteTable, a_route_that_ends_gets_a_newer_sequence_number) {
  RouteTable table;
  const Time soon = at_ms(10);
  EXPECT_TRUE(table.offer({5, 7, 3, 1, soon}, at_ms(0)));
  EXPECT_FALSE(table.offer({5, 6, 1, 2, soon}, at_ms(1)));  // older, though shorter
  EXPECT_FALSE(table.offer({5, 7, 3, 2, soon}, at_ms(1)));  // not shorter
  EXPECT_TRUE(table.offer({5, 7, 2, 2, soon}, at_ms(1)));
  EXPECT_EQ(table.find(5, soon), nullptr);
  EXPECT_EQ(table.last(5, soon)->sequence, 8U);
  EXPECT_FALSE(table.offer({5, 7, 1, 3, at_ms(50)}, soon));  // from before the end
  EXPECT_TRUE(table.offer({5, 8, 9, 3, at_ms(50)}, soon));
  const auto ended = table.break_link(3, at_ms(20));
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].sequence, 9U);
  EXPECT_TRUE(table.break_link(3, at_ms(20)).empty());
}

TEST(CosimRouteTable, only_the_next_node_can_end_a_route) {
  RouteTable table;
  EXPECT_TRUE(table.offer({5, 7, 3, 1, at_ms(10)}, at_ms(0)));
  table.add_precursor(5, 9, at_ms(0));
  EXPECT_FALSE(table.end(5, 2, 100, at_ms(1)));
  EXPECT_FALSE(table.end(6, 1, 100, at_ms(1)));
  const auto ended = table.end(5, 1, 100, at_ms(1));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->sequence, 100U);
  EXPECT_EQ(ended->precursors, std::set<NodeId>{9});
  EXPECT_FALSE(table.end(5, 1, 100, at_ms(1)));
}

TEST(CosimRoutingMessages, messages_have_the_sizes_of_the_rfc_and_survive) {
  const RouteRequest request{false, 3, 77, 4, 0xfffffff0, 2, 9};
  const RouteReply reply{2, 4, 12, 1, 6000};
  const RouteError error{{{3, 9}, {1, 0}}};
  const Datagram datagram{1, 4, 20, Buffer::copy_of("text")};
  EXPECT_EQ(encode(request, 5).size(), kHeadBytes + 24);
  EXPECT_EQ(encode(reply, 5).size(), kHeadBytes + 20);
  EXPECT_EQ(encode(error).size(), kHeadBytes + 4 + 2 * 8);
  EXPECT_EQ(encode(datagram).size(), kHeadBytes + 4);
  EXPECT_EQ(std::get<RouteRequest>(decode(encode(request, 5), 5)->message), request);
  EXPECT_EQ(decode(encode(request, 5), 5)->hops_left, 5);
  EXPECT_EQ(std::get<RouteReply>(decode(encode(reply, 5), 5)->message), reply);
  EXPECT_EQ(std::get<RouteError>(decode(encode(error), 5)->message), error);
  const auto back = std::get<Datagram>(decode(encode(datagram), 5)->message);
  EXPECT_EQ(back.from, 1U);
  EXPECT_EQ(back.to, 4U);
  EXPECT_EQ(back.hops_left, 20);
  EXPECT_EQ(back.bytes.text(), "text");
  EXPECT_EQ(std::get<Datagram>(decode(encode(Datagram{1, kEveryone, 1, {}}), 5)->message).to,
            kEveryone);
  // A node that does not exist.
  EXPECT_FALSE(decode(encode(request, 5), 4));
  EXPECT_FALSE(decode(encode(datagram), 4));
}

TEST(CosimRoutingMessages, arbitrary_bytes_are_refused_or_decoded_without_harm) {
  std::mt19937_64 numbers(3);
  std::vector<Buffer> seeds{encode(RouteRequest{}, 1), encode(RouteReply{}, 1),
                            encode(RouteError{{{0, 0}, {1, 1}}}),
                            encode(Datagram{0, 1, 1, Buffer::copy_of("abc")})};
  std::size_t decoded = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Buffer& seed = seeds[numbers() % seeds.size()];
    std::vector<std::byte> bytes(seed.bytes().begin(), seed.bytes().end());
    for (std::uint64_t change = numbers() % 3; change > 0; --change) {
      bytes[numbers() % bytes.size()] = std::byte(numbers());
    }
    bytes.resize(std::min<std::size_t>(bytes.size(), numbers() % 48));
    decoded += decode(Buffer::adopt(std::move(bytes)), 3) ? 1 : 0;
  }
  EXPECT_GT(decoded, 100U);
}

TEST(CosimTableRouter, relays_along_the_table_and_bounds_hops) {
  TableRouter router(1, {{4, 2}});
  Actions actions;
  router.send(at_ms(0), {1, 4, 0, {}}, actions);
  router.send(at_ms(0), {1, 3, 0, {}}, actions);
  ASSERT_EQ(actions.sends.size(), 2U);
  EXPECT_EQ(actions.sends[0].to, 2U);
  EXPECT_EQ(actions.sends[1].to, 3U);  // without an entry
  actions = {};
  router.receive(at_ms(0), 0, {Datagram{0, 4, 2, {}}, 2}, actions);
  ASSERT_EQ(actions.sends.size(), 1U);
  EXPECT_EQ(decode(actions.sends[0].bytes, 5)->hops_left, 1);
  router.receive(at_ms(0), 0, {Datagram{0, 4, 1, {}}, 1}, actions);
  router.receive(at_ms(0), 0, {RouteReply{}, 1}, actions);
  EXPECT_EQ(actions.drops, (std::vector{RouteDrop::hop_limit, RouteDrop::malformed}));
  router.receive(at_ms(0), 0, {Datagram{0, 1, 1, {}}, 1}, actions);
  EXPECT_EQ(actions.arrived.size(), 1U);
}

}  // namespace
}  // namespace hyphos::cosim::routing
