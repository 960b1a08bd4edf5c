// ros2_line DOMAIN OUT BACK: a ROS 2 program at the DDS level. It publishes each line of its input
// on OUT as std_msgs/String, and prints the messages of BACK. It ends at the end of its input.
// ros2_line DOMAIN storm OUT BACK publishes messages of 100 KB at full speed until it is killed.
#include <cstdint>
#include <iostream>
#include <string>

#include "tests/gateway/ros2/ros_side.hpp"

namespace hyphos::gateway::ros2 {
namespace {

constexpr const char* kString = "std_msgs::msg::dds_::String_";

/// Prints each message on arrival.
class Printer final : public dds::DataReaderListener {
 public:
  void on_data_available(dds::DataReader* reader) override {
    std::string bytes;
    dds::SampleInfo info;
    while (reader->take_next_sample(&bytes, &info) == ReturnCode_t::RETCODE_OK) {
      if (info.valid_data) std::cout << text_of(bytes) << std::endl;
    }
  }
};

int lines(RosSide& side, const std::string& out, const std::string& back) {
  Printer printer;
  dds::DataReader* const reader = side.reader(back, kString).reader;
  reader->set_listener(&printer);
  RosWriter& writer = side.writer(out, kString);
  for (std::string line; std::getline(std::cin, line);) writer.write(string_cdr(line));
  reader->set_listener(nullptr);
  return 0;
}

int storm(RosSide& side, const std::string& out, const std::string& back) {
  side.reader(back, kString);
  RosWriter& writer = side.writer(out, kString);
  const std::string message = string_cdr(std::string(100'000, 'x'));
  while (true) writer.write(message);
}

}  // namespace
}  // namespace hyphos::gateway::ros2

int main(int argc, char** argv) {
  using namespace hyphos::gateway::ros2;
  if (argc < 4) return 2;
  RosSide side(static_cast<std::uint32_t>(std::stoul(argv[1])));
  const std::string first = argv[2];
  return first == "storm" && argc == 5 ? storm(side, argv[3], argv[4])
                                       : lines(side, first, argv[3]);
}
