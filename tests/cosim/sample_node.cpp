// A node for the tests of robots in separate processes. It publishes a counter, and at five it
// performs the action in the parameter `then`.
#include <unistd.h>

#include <csignal>
#include <stdexcept>
#include <string>

#include "hyphos/hyphos.hpp"

namespace {

class Sample {
 public:
  explicit Sample(const hyphos::Node& node)
      : then_(node.param("then", "")), count_(node.publisher<hyphos::Buffer>("count")) {
    if (then_ == "refuse") throw std::runtime_error("there is no camera");
    node.subscribe<hyphos::Buffer>("count", hyphos::serial, [](const auto&) {});
    node.every(hyphos::Duration::from_ms(20), [this] {
      count_.publish(hyphos::Buffer::copy_of(std::to_string(++said_)));
      if (said_ < 5) return;
      if (then_ == "throw") throw std::runtime_error("five is too many");
      if (then_ == "die") std::raise(SIGKILL);
      while (then_ == "hang") ::pause();
    });
  }

 private:
  std::string then_;
  hyphos::Publisher<hyphos::Buffer> count_;
  int said_ = 0;
};

}  // namespace

HYPHOS_NODE(Sample)
