// ros1_probe [KEY=VALUE…]: a ros1 gateway with these protocol options, on an in-memory graph, for
// ROS programs. The robot publishes on /out each message of /in. It has published "once" on the
// latched topic /latched. It serves /negate (std_srvs/SetBool) with the negated value.
//
// The program prints the URI of the master, then reads commands: `heard` (messages received on
// /in), `open` (open objects in the graph), `publishers TOPIC`, `counted WHY`, `call SERVICE HEX`
// (the reply as hex, or "error TEXT"). It ends at the end of its input.
#include <atomic>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "gateway/ros1/ros1.hpp"
#include "tests/gateway/fake_graph.hpp"
#include "tests/gateway/probe.hpp"
#include "tests/gateway/ros1/types.hpp"

using namespace hyphos;
using namespace hyphos::gateway;

namespace {

// The robot: the part of the graph that exists without ROS.
class Robot {
 public:
  explicit Robot(FakeGraph& facade)
      : out_(facade.topics()
                 .open_publisher({"/robot"}, "/out", "std_msgs/String", Form::ros1, {})
                 .or_throw()),
        once_(facade.topics()
                  .open_publisher({"/robot"}, "/latched", "std_msgs/String", Form::ros1,
                                  {.latched = true})
                  .or_throw()),
        negate_(facade.services()
                    .open_server({"/robot"}, "/negate", "std_srvs/SetBool", Form::ros1,
                                 [](const Buffer& request, const Answer& answer) {
                                   std::vector<std::byte> reply(5);
                                   reply[0] = request.data()[0] ^ std::byte{1};
                                   answer(Buffer::adopt(std::move(reply)));
                                 })
                    .or_throw()),
        in_(facade.topics()
                .open_subscription({"/robot"}, "/in", "std_msgs/String", Form::ros1, {},
                                   [this](const OutgoingMessage& outgoing) {
                                     ++heard_;
                                     (void)out_->publish(outgoing.bytes.joined().bytes());
                                   })
                .or_throw()) {
    once_->publish(Buffer::copy_of(std::string_view("\x04\0\0\0once", 8)).bytes()).or_throw();
  }
  [[nodiscard]] int heard() const { return heard_; }

 private:
  std::atomic<int> heard_ = 0;
  std::unique_ptr<ClientPublisher> out_;
  std::unique_ptr<ClientPublisher> once_;
  std::unique_ptr<Server> negate_;
  std::unique_ptr<ClientSubscription> in_;
};

std::string publishers(const FakeGraph& facade, const std::string& topic) {
  std::string names;
  for (const TopicInfo& info : facade.topics().list()) {
    if (info.topic != topic) continue;
    for (const std::string& name : info.publishers) names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

std::string obey(FakeGraph& facade, const Robot& robot, const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  std::string first;
  std::string second;
  words >> verb >> first >> second;
  if (verb == "heard") return std::to_string(robot.heard());
  if (verb == "open") return std::to_string(facade.open());
  if (verb == "publishers") return publishers(facade, first);
  if (verb == "counted") return std::to_string(facade.clients().counted(first));
  if (verb == "call") return call(facade, first, second);
  return "unknown command '" + verb + "'";
}

}  // namespace

int main(int argc, char** argv) {
  FakeGraph facade;
  ros1::add_types(facade);
  const Robot robot(facade);
  Options options;
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    options.own[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  const auto gateway = ros1::open_ros1(facade, options);
  if (!gateway) {
    std::cout << gateway.error().to_string() << std::endl;
    return 1;
  }
  std::cout << (*gateway)->address() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << obey(facade, robot, line) << std::endl;
  }
}
