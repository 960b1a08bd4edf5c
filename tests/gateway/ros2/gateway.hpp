#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gateway/ros2/ros2.hpp"
#include "tests/gateway/fake_graph.hpp"
#include "tests/gateway/heard.hpp"
#include "tests/gateway/ros2/ros_side.hpp"

namespace hyphos::gateway::ros2 {

inline const std::string kString = "std_msgs::msg::dds_::String_";

/// Waits for an asynchronous effect of the gateway.
template <typename Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

inline Options with(std::map<std::string, std::string> own) {
  Options options;
  options.own = std::move(own);
  return options;
}

/// A gateway on an in-memory graph.
struct Gateway {
  explicit Gateway(Options options = {}, bool is_simulated = false) {
    use_the_wire();
    if (is_simulated) facade.simulate_time();
    for (const char* name : {"std_msgs/msg/String", "sensor_msgs/msg/Image"}) {
      facade.types().add_message({.name = name, .md5 = {}, .type_hash = {}, .text = {}});
    }
    facade.types().add_service(
        {.name = "std_srvs/srv/SetBool", .md5 = {}, .type_hash = {}, .request = {}, .reply = {}});
    options.own.emplace("domain_id", std::to_string(test_domain()));
    protocol = open_ros2(facade, options).or_throw();
  }
  /// A publisher of the robot.
  /// `depth`: 0 for the depth of the channel.
  std::unique_ptr<ClientPublisher> publisher(const std::string& topic, bool latched = false,
                                             std::uint32_t depth = 0) {
    return facade.topics()
        .open_publisher({"robot"}, topic, "std_msgs/msg/String", Form::cdr,
                        {.latched = latched, .depth = depth})
        .or_throw();
  }
  std::unique_ptr<ClientSubscription> subscription(const std::string& topic, Heard& heard) {
    return facade.topics()
        .open_subscription({"robot"}, topic, "std_msgs/msg/String", Form::cdr, {}, heard.take())
        .or_throw();
  }
  [[nodiscard]] std::vector<std::string> publishers(const std::string& topic) const {
    for (const TopicInfo& info : facade.topics().list()) {
      if (info.topic == topic) return info.publishers;
    }
    return {};
  }

  FakeGraph facade;
  std::unique_ptr<Protocol> protocol;
};

}  // namespace hyphos::gateway::ros2
