// A roscpp node as one endpoint, a Hyphos node as the other, and the ros1 gateway between them. The
// gateway is also the master, so no rosmaster runs. `in`: roscpp publishes and the robot
// subscribes. `out`: the reverse. With `direct_` the gateway is in the process of the node. Without
// the gateway, this corresponds to the peer ros1, except that messages are sensor_msgs/Image.

#include "lab/common/main.hpp"
#include "lab/peers/gateway_ends.hpp"
#include "lab/peers/image.hpp"
#include "lab/peers/roscpp.hpp"

namespace hyphos::lab {
namespace {

struct RosImage {
  static constexpr const char* kType = "sensor_msgs/Image";
  static constexpr const char* kMd5 = "060021388200f6f0f447d0fcd9c64743";
  static constexpr const char* kDefinition =
      "Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\n"
      "uint32 step\nuint8[] data\n"
      "================================================================================\n"
      "MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n";
  static std::string head(std::size_t size) { return image_head(ImageWire::ros1, size); }
  static std::span<const std::byte> octets_of(std::span<const std::byte> message) {
    return pixels_of(ImageWire::ros1, message);
  }
};

class RosNode final : public RoscppPeer<RosImage> {
 public:
  explicit RosNode(const Options& options) : RoscppPeer(options, gateway_host(options)) {}
};

class Ros1GatewayPeer final : public GatewayEnd<Ros1GatewayPeer, RosNode> {
 public:
  using GatewayEnd::GatewayEnd;
  static constexpr const char* kName = "gateway_ros1";
  static std::vector<Variant> variants() {
    // Slightly less than the gateway's default limit, because the message also has a head.
    constexpr std::size_t kLargest = 63u << 20;
    const std::vector<Shape> one_way = {Shape::kPair, Shape::kUncapped};
    const std::vector<Shape> viewers = {Shape::kPair, Shape::kFanout, Shape::kUncapped};
    return {{"in", one_way, kLargest, false, true},
            {"out", viewers, kLargest, false, true},
            {"direct_in", one_way, kLargest, false, true},
            {"direct_out", one_way, kLargest, false, true}};
  }
  static std::vector<std::string> words(const Options& options) {
    // The queue has the same length as that of the roscpp side.
    return {"ros1",
            "--host",
            gateway_host(options),
            "--port",
            std::to_string(master_port(options)),
            "--master",
            "--queue",
            std::to_string(options.queue_or(RosNode::kQueue))};
  }
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  return hyphos::lab::lab_main<hyphos::lab::Ros1GatewayPeer>(argc, argv);
}
