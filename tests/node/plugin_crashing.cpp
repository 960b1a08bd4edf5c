#include <cstdlib>
#include <string>

#include "hyphos/hyphos.hpp"
#include "tests/node/number.hpp"

namespace {

// Not static and not inlined, so that the report has their names.
__attribute__((noinline)) int read_through(const volatile int* place) { return *place; }

__attribute__((noinline)) int recurse_for_ever(int depth) {
  volatile char block[4096];
  block[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : recurse_for_ever(depth + 1) + block[0];
}

/// Crashes in the way that its parameter `how` names, at the place that `where` names.
struct Crashing {
  explicit Crashing(const hyphos::Node& node)
      : how_(node.param("how", std::string("null"))), channel_(node.publisher<Number>("number")) {
    const std::string where = node.param("where", std::string("timer"));
    if (where == "constructor") crash();
    if (where == "channel") {
      node.subscribe<Number>("number", hyphos::serial, [this](const auto&) { crash(); });
      channel_.publish({1});
    }
    if (where == "timer") node.every(hyphos::Duration::from_ms(1), [this] { crash(); });
  }

  void crash() const {
    if (how_ == "null") (void)read_through(nullptr);
    if (how_ == "overflow") (void)recurse_for_ever(0);
    if (how_ == "abort") std::abort();
  }

  std::string how_;
  hyphos::Publisher<Number> channel_;
};

}  // namespace

HYPHOS_NODE(Crashing)
