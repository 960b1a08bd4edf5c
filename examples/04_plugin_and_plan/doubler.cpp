// A node as a plug-in. Which process runs it is a line of robot.yaml.
#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/std.pb.h>

namespace {

class Doubler {
 public:
  explicit Doubler(const hyphos::Node& node)
      : factor_(node.param("factor", 2)), doubled_(node.publisher<hyphos::msgs::Int64>("doubled")) {
    node.subscribe<hyphos::msgs::Int64>("number", hyphos::serial, [this](const auto& number) {
      hyphos::msgs::Int64 result;
      result.set_data(number->data() * factor_);
      doubled_.publish(std::move(result));
    });
  }

 private:
  int factor_;
  hyphos::Publisher<hyphos::msgs::Int64> doubled_;
};

}  // namespace

HYPHOS_NODE(Doubler)
