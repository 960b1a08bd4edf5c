// Images with the scans that belong to them: at most 50 ms apart, each message at most once.
#include <cstdio>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/sensor.pb.h>

using Image = hyphos::Attached<hyphos::msgs::Image>;
using hyphos::msgs::LaserScan;

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("fusion", argc, argv).or_throw();
  hyphos::synchronize<Image, LaserScan>(
      node, {"camera", "scan"}, {.max_interval = hyphos::Duration::from_ms(50)},
      [](const hyphos::Message<Image>& image, const hyphos::Message<LaserScan>& scan) {
        const auto taken_ns = image->head.header().stamp_ns();
        const auto later_ns = scan->header().stamp_ns() - taken_ns;
        std::printf("image %ld with a scan %ld ms later\n", taken_ns / 100'000'000,
                    later_ns / 1'000'000);
        std::fflush(stdout);
      });
  return node.spin();
}
