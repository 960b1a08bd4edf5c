// The same in C++: the head is parsed, the pixels lie where the camera wrote them.
#include <cstdio>
#include <numeric>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/sensor.pb.h>

using Picture = hyphos::Attached<hyphos::msgs::Image>;

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("brightness", argc, argv).or_throw();
  node.subscribe<Picture>("image", hyphos::serial, [](const hyphos::Message<Picture>& image) {
    if (image->buffers.size() != 1 || image->buffers[0].empty()) return;
    const auto pixels = image->buffers[0].bytes();
    const double sum = std::transform_reduce(pixels.begin(), pixels.end(), 0.0, std::plus<>(),
                                             [](std::byte b) { return std::to_integer<int>(b); });
    std::printf("%u×%u, mean %.1f, a read-only view\n", image->head.width(), image->head.height(),
                sum / static_cast<double>(pixels.size()));
    std::fflush(stdout);
  });
  return node.spin();
}
