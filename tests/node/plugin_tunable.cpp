#include "hyphos/hyphos.hpp"

namespace {

/// A node with parameters, for tests that change them from other processes.
class Tunable {
 public:
  explicit Tunable(const hyphos::Node& node) {
    const hyphos::Params params = node.params();
    low_ = params.declare<double>("low", {.value = 1, .unit = "m", .range = {0, 100}});
    high_ = params.declare<double>("high", {.value = 2, .unit = "m", .range = {0, 100}});
    params.declare<std::string>("mode", {.value = "slow", .choices = {"slow", "fast"}});
    params.declare<std::int64_t>("fixed", {.value = 7, .read_only = true});
    params.check([](const hyphos::ParamSet& next) {
      return next.get<double>("low") < next.get<double>("high") ? "" : "low must be below high";
    });
  }

 private:
  hyphos::Param<double> low_;
  hyphos::Param<double> high_;
};

}  // namespace

HYPHOS_NODE(Tunable)
