// ros2_fast_node: the same as ros2_node, on Fast DDS with the set-up of rmw_fastrtps_cpp. RANGE may
// also be LOCALHOST_ONLY, which is ROS_LOCALHOST_ONLY=1 of Humble. Options: best_effort, latched,
// depth=N.
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/gateway/ros2/ros_side.hpp"

namespace hyphos::gateway::ros2 {
namespace {

constexpr const char* kString = "std_msgs::msg::dds_::String_";

/// Prints each message on arrival.
class Printer final : public dds::DataReaderListener {
 public:
  Printer(std::string topic, std::mutex& printing)
      : topic_(std::move(topic)), printing_(printing) {}
  void on_data_available(dds::DataReader* reader) override {
    std::string bytes;
    dds::SampleInfo info;
    while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
      if (!info.valid_data) continue;
      const std::string text = text_of(bytes);
      const std::lock_guard lock(printing_);
      std::cout << topic_ << " " << text.size() << " " << text.substr(0, text.find(' '))
                << std::endl;
    }
  }

 private:
  const std::string topic_;
  std::mutex& printing_;
};

RosQos qos_of(const std::vector<std::string>& options) {
  RosQos qos;
  qos.depth = 10;
  for (const std::string& option : options) {
    if (option == "best_effort") qos.reliable = false;
    if (option == "latched") qos.latched = true;
    if (option.starts_with("depth=")) qos.depth = std::stoi(option.substr(6));
  }
  return qos;
}

[[noreturn]] void listen(RosSide& side, const std::string& topics, const RosQos& qos) {
  std::mutex printing;
  std::vector<std::unique_ptr<Printer>> printers;
  std::istringstream names(topics);
  for (std::string name; std::getline(names, name, ',');) {
    printers.push_back(std::make_unique<Printer>(name, printing));
    side.reader("rt/" + name, kString, qos).reader->set_listener(printers.back().get());
  }
  {
    const std::lock_guard lock(printing);
    std::cout << "ready" << std::endl;
  }
  while (true) ::pause();
}

int talk(RosSide& side, const std::string& topic, const RosQos& qos) {
  RosWriter& writer = side.writer("rt/" + topic, kString, qos);
  std::cout << "ready" << std::endl;
  std::size_t size = 0;
  for (std::string word; std::cin >> size >> word;) {
    word.resize(std::max(size, word.size()), ' ');
    writer.write(string_cdr(word));
  }
  return 0;
}

}  // namespace
}  // namespace hyphos::gateway::ros2

int main(int argc, char** argv) {
  using namespace hyphos::gateway::ros2;
  if (argc < 5) return 2;
  const std::map<std::string, Range> ranges{{"LOCALHOST_ONLY", Range::localhost_only},
                                            {"LOCALHOST", Range::localhost},
                                            {"SUBNET", Range::subnet}};
  RosSide side(static_cast<std::uint32_t>(std::stoul(argv[1])), ranges.at(argv[2]));
  const RosQos qos = qos_of({argv + 5, argv + argc});
  if (std::string(argv[3]) == "talk") return talk(side, argv[4], qos);
  listen(side, argv[4], qos);
}
