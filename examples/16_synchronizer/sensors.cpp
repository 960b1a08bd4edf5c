// A camera and a laser. The laser measures 20 ms after the camera, and one scan is lost.
#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/sensor.pb.h>

using Image = hyphos::Attached<hyphos::msgs::Image>;
using hyphos::msgs::LaserScan;

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("sensors", argc, argv).or_throw();
  auto camera = node.publisher<Image>("camera");
  auto laser = node.publisher<LaserScan>("scan");
  std::int64_t number = 0;
  node.every(hyphos::Duration::from_ms(20), [&] {
    if (camera.listeners() == 0 || laser.listeners() == 0) return;
    const std::int64_t taken_ns = ++number * 100'000'000;
    Image image;
    image.head.mutable_header()->set_stamp_ns(taken_ns);
    camera.publish(image);
    if (number == 3) return;
    LaserScan scan;
    scan.mutable_header()->set_stamp_ns(taken_ns + 20'000'000);
    laser.publish(scan);
  });
  return node.spin();
}
