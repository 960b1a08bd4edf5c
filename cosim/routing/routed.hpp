#pragma once

#include <array>
#include <memory>
#include <vector>

#include "cosim/core/simulator.hpp"
#include "cosim/routing/router.hpp"

namespace hyphos::cosim::routing {

/// Programs whose packets to one robot are routed over other robots. The programs see their own
/// packets only: sender and receiver are the first and the last robot of a route.
///
/// A robot relays a packet in the instant in which it reads the packet. Packets to everyone take
/// one hop. Every packet of the network has kHeadBytes more than that of the program.
class Routed final : public Programs {
 public:
  /// One router for each node. With `reports`, the radio reports packets that it gave up, which
  /// needs acknowledgements.
  Routed(std::unique_ptr<Programs> programs, std::vector<std::unique_ptr<Router>> routers,
         bool reports = true);

  void step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
            Outbox& outbox) override;
  Time next_event_time() const override;
  bool wants_failures() const override { return reports_; }
  Result<void> failure() const override { return programs_->failure(); }

  struct Results {
    Router::Counts counts;
    std::uint64_t relayed = 0;  ///< packets of programs, by robots on their way
    std::array<std::uint64_t, kRouteDrops> drops{};
  };
  /// By node.
  [[nodiscard]] const std::vector<Results>& results();
  [[nodiscard]] Router& router(NodeId node) { return *routers_[node]; }

 private:
  void take(Time now, const Delivery& delivery);
  void apply(NodeId node, const Delivery* delivery, Actions& actions);
  void send(Time now, NodeId from, NodeId to, Buffer bytes);
  void plan();

  std::unique_ptr<Programs> programs_;
  std::vector<std::unique_ptr<Router>> routers_;
  std::vector<Results> results_;
  bool reports_;
  Time next_{};  // of the routers. The first step is due at once
  std::vector<Delivery> arrived_;
  std::vector<Outbox::Item> leaving_;
  Outbox inner_;
};

}  // namespace hyphos::cosim::routing
