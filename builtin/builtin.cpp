// The shared object of all built-in nodes. The key `builtin:` of a plan chooses the node.
#include <string>
#include <utility>

#include "builtin/registry.hpp"
#include "hyphos/plan.hpp"

namespace hyphos::builtin {
namespace {

class BuiltinNode {
 public:
  explicit BuiltinNode(const Node& node) : node_(open(node)) {}

 private:
  static std::unique_ptr<Builtin> open(const Node& node) {
    const Plan* plan = node.runtime().plan();
    const NodePlan* planned = plan == nullptr ? nullptr : plan->node(node.name());
    const std::string name = planned == nullptr ? std::string() : planned->program;
    std::string names;
    for (const Known& known : known_nodes()) {
      if (known.name == name) return known.open(node);
      names += (names.empty() ? "" : ", ") + std::string(known.name);
    }
    throw Exception(Error{Code::invalid_config,
                          "there is no built-in node '" + name + "'. Use one of " + names,
                          "nodes." + node.name() + ".builtin"});
  }

  std::unique_ptr<Builtin> node_;
};

}  // namespace
}  // namespace hyphos::builtin

HYPHOS_NODE(hyphos::builtin::BuiltinNode)
