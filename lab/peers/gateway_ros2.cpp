// A ROS 2 program, as seen by DDS, as one endpoint, a Hyphos node as the other, and the ros2
// gateway between them. With `direct_` the gateway is in the process of the node. The program is
// the participant of the peer fastdds, with the names, the type and the QoS of
// sensor_msgs/msg/Image. `in`: the program publishes and the robot subscribes. `out`: the reverse.
// On one machine they communicate through shared memory, like fastdds/shm_udp. With `udp_in` and
// `udp_out` they use the loopback, like the gateway by default.

#include "lab/common/main.hpp"
#include "lab/peers/fastdds.hpp"
#include "lab/peers/gateway_ends.hpp"
#include "lab/peers/image.hpp"

namespace hyphos::lab {
namespace {

struct DdsImage {
  static constexpr const char* kType = "sensor_msgs::msg::dds_::Image_";

  static std::string topic(const std::string& edge) { return "rt/" + edge; }
  static std::string head(std::size_t size) { return image_head(ImageWire::cdr, size); }
  static std::span<const std::byte> octets_of(std::span<const std::byte> sample) {
    return pixels_of(ImageWire::cdr, sample);
  }
};

class Ros2GatewayPeer final : public GatewayEnd<Ros2GatewayPeer, FastddsEnd<DdsImage>> {
 public:
  using GatewayEnd::GatewayEnd;
  static constexpr const char* kName = "gateway_ros2";
  static std::vector<Variant> variants() {
    const std::vector<Shape> one_way = {Shape::kPair, Shape::kUncapped};
    const std::vector<Shape> viewers = {Shape::kPair, Shape::kFanout, Shape::kUncapped};
    return {{"in", one_way, kLargestSample, false, true},
            {"out", viewers, kLargestSample, false, true},
            {"direct_in", one_way, kLargestSample, false, true},
            {"direct_out", one_way, kLargestSample, false, true},
            {"udp_in", one_way, kLargestSample},
            {"udp_out", viewers, kLargestSample}};
  }
  static std::vector<std::string> words(const Options& options) {
    return {"ros2",
            "--host",
            gateway_host(options),
            "--set",
            "domain_id=" + std::to_string(dds_domain(options)),
            "--set",
            std::string("shared_memory=") + (through_udp(options) ? "false" : "true")};
  }
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  return hyphos::lab::lab_main<hyphos::lab::Ros2GatewayPeer>(argc, argv);
}
