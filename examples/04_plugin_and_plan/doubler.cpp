// A node as a plug-in. One line of robot.yaml chooses the process that runs it.
#include <cstdint>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/std.pb.h>

namespace {

class Doubler {
 public:
  explicit Doubler(const hyphos::Node& node)
      : refusals_(node),
        factor_(node.param("factor", 2)),
        doubled_(node.publisher<hyphos::msgs::Int64>("doubled")) {
    node.subscribe<hyphos::msgs::Int64>("number", hyphos::serial, [this](const auto& number) {
      std::int64_t product = 0;
      const bool fits = !__builtin_mul_overflow(number->data(), factor_, &product);
      if (refusals_.refuse("number", fits ? "" : "its double needs more than 64 bits")) return;
      hyphos::msgs::Int64 result;
      result.set_data(product);
      doubled_.publish(std::move(result));
    });
  }

 private:
  hyphos::Refusals refusals_;
  int factor_;
  hyphos::Publisher<hyphos::msgs::Int64> doubled_;
};

}  // namespace

HYPHOS_NODE(Doubler)
