#pragma once

#include <cstddef>

#include "gateway/facade/graph_facade.hpp"
#include "tests/gateway/fake_actions.hpp"
#include "tests/gateway/fake_clients.hpp"
#include "tests/gateway/fake_params.hpp"
#include "tests/gateway/fake_pool.hpp"
#include "tests/gateway/fake_services.hpp"
#include "tests/gateway/fake_topics.hpp"
#include "tests/gateway/fake_types.hpp"

namespace hyphos::gateway {

/// An in-memory graph for protocol tests. Callbacks run in one thread of this class, as those of
/// the graph run on its pool. A test adds the types.
class FakeGraph final : public GraphFacade {
 public:
  FakeGraph() = default;
  FakeGraph(const FakeGraph&) = delete;
  FakeGraph& operator=(const FakeGraph&) = delete;
  ~FakeGraph() override { pool_.stop(); }

  [[nodiscard]] FakeTopics& topics() const override { return topics_; }
  [[nodiscard]] FakeServices& services() const override { return services_; }
  [[nodiscard]] FakeActions& actions() const override { return actions_; }
  [[nodiscard]] FakeParameters& parameters() const override { return parameters_; }
  [[nodiscard]] FakeTypes& types() const override { return types_; }
  [[nodiscard]] FakeClients& clients() const override { return clients_; }
  [[nodiscard]] bool has_simulated_time() const override { return is_simulated_; }
  /// Call it before a gateway is opened.
  void simulate_time() { is_simulated_ = true; }

  /// The number of open client publishers, client subscriptions and servers.
  [[nodiscard]] std::size_t open() const {
    return topics_.open() + services_.open() + actions_.open();
  }

 private:
  bool is_simulated_ = false;
  // Mutable, because a facade gives access to its parts even if it is const.
  mutable FakePool pool_;
  mutable FakeTypes types_;
  mutable FakeClients clients_;
  mutable FakeTopics topics_{pool_, types_, clients_};
  mutable FakeServices services_{pool_, types_, clients_};
  mutable FakeActions actions_{pool_, types_};
  mutable FakeParameters parameters_{pool_};
};

}  // namespace hyphos::gateway
