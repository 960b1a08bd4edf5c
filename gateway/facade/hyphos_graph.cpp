#include "gateway/facade/hyphos_graph.hpp"

#include <utility>

#include "gateway/facade/announce.hpp"
#include "gateway/facade/graph_actions.hpp"
#include "gateway/facade/graph_calls.hpp"
#include "gateway/facade/graph_clients.hpp"
#include "gateway/facade/graph_params.hpp"
#include "gateway/facade/graph_services.hpp"
#include "gateway/facade/graph_topics.hpp"
#include "gateway/facade/graph_types.hpp"
#include "gateway/facade/graph_view.hpp"

namespace hyphos::gateway {

struct HyphosGraph::Parts {
  Parts(const Node& node, const std::shared_ptr<Types>& known, Rules rules)
      : view(std::make_shared<GraphView>(node)),
        clients(std::move(rules), node.log()),
        calls(node, clients),
        types(known),
        topics(node, known, *view, clients),
        services(node, known, *view, clients, calls),
        actions(node, known, *view, clients, calls),
        parameters(node, *view, clients.rules()),
        clock(node.clock()) {}

  const std::shared_ptr<GraphView> view;  // first, because the others use it
  GraphClients clients;
  GraphCalls calls;
  GraphTypes types;
  GraphTopics topics;
  GraphServices services;
  GraphActions actions;
  GraphParameters parameters;
  const Clock clock;
};

HyphosGraph::HyphosGraph(const Node& node, const std::shared_ptr<Types>& types, Rules rules)
    : parts_(std::make_unique<Parts>(node, types, std::move(rules))) {}

HyphosGraph::~HyphosGraph() { end_calls(); }

void HyphosGraph::end_calls() { parts_->calls.end(); }

void HyphosGraph::learn_announced(const Node& node, Types& types) {
  types.set_announced(announced_in_domain(node), [view = parts_->view] { return view->version(); });
}

const GraphView& HyphosGraph::view() const { return *parts_->view; }

Topics& HyphosGraph::topics() const { return parts_->topics; }
Services& HyphosGraph::services() const { return parts_->services; }
Actions& HyphosGraph::actions() const { return parts_->actions; }
Parameters& HyphosGraph::parameters() const { return parts_->parameters; }
const TypeLookup& HyphosGraph::types() const { return parts_->types; }
Clients& HyphosGraph::clients() const { return parts_->clients; }
bool HyphosGraph::has_simulated_time() const { return parts_->clock.mode() == ClockMode::sim; }

std::map<std::string, std::uint64_t> HyphosGraph::counters() const {
  return parts_->clients.counters();
}

}  // namespace hyphos::gateway
