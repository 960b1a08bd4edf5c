#include "hyphos/hyphos.hpp"
#include "tests/node/number.hpp"

namespace {

/// Republishes every number of "in" on "out", plus the parameter `add`.
class Echo {
 public:
  explicit Echo(const hyphos::Node& node)
      : out_(node.publisher<Number>("out")), add_(node.param("add", 0)) {
    node.subscribe<Number>("in", hyphos::serial, [this](const hyphos::Message<Number>& m) {
      out_.publish({m->value + add_});
    });
  }

 private:
  hyphos::Publisher<Number> out_;
  int add_;
};

}  // namespace

HYPHOS_NODE(Echo)
