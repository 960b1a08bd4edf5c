#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/facade/graph_view.hpp"
#include "gateway/types/rules.hpp"
#include "gateway/types/types.hpp"
#include "hyphos/node.hpp"

namespace hyphos::gateway {

/// The facade of the graph of this process. Its channels are announced as the channels of any node.
/// It outlives all that its parts have opened.
class HyphosGraph final : public GraphFacade {
 public:
  HyphosGraph(const Node& node, const std::shared_ptr<Types>& types, Rules rules);
  ~HyphosGraph() override;
  HyphosGraph(const HyphosGraph&) = delete;
  HyphosGraph& operator=(const HyphosGraph&) = delete;

  /// Ends the calls and goals of all clients. Call it before the protocol ends: then no reply,
  /// feedback or result reaches the protocol later. Further calls fail. Waits for callbacks that
  /// run.
  void end_calls();

  /// Lets `types` learn the definitions that the processes of the node's domain announce.
  void learn_announced(const Node& node, Types& types);

  [[nodiscard]] Topics& topics() const override;
  [[nodiscard]] Services& services() const override;
  [[nodiscard]] Actions& actions() const override;
  [[nodiscard]] Parameters& parameters() const override;
  [[nodiscard]] const TypeLookup& types() const override;
  [[nodiscard]] Clients& clients() const override;
  [[nodiscard]] bool has_simulated_time() const override;

  [[nodiscard]] const GraphView& view() const;
  /// Counters by "drop.gateway.<why>", since the start.
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() const;

 private:
  struct Parts;

  const std::unique_ptr<Parts> parts_;
};

}  // namespace hyphos::gateway
