// The viewer in C++: it parses the head and reads the pixels in the memory where the camera wrote
// them.
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string_view>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/sensor.pb.h>

using Picture = hyphos::Attached<hyphos::msgs::Image>;

// The reason why a picture cannot be used, or "" if it can.
std::string_view unusable(const Picture& image) {
  if (image.buffers.size() != 1 || image.buffers[0].empty()) return "it has no pixels";
  if (image.head.encoding() != "mono8") return "it is not mono8";
  const std::uint64_t bytes = std::uint64_t{image.head.width()} * image.head.height();
  return bytes == image.buffers[0].size() ? "" : "width times height is not the number of pixels";
}

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("brightness", argc, argv).or_throw();
  const hyphos::Refusals refusals(node);
  node.subscribe<Picture>("image", hyphos::serial, [=](const hyphos::Message<Picture>& image) {
    if (refusals.refuse("image", unusable(*image))) return;
    const auto pixels = image->buffers[0].bytes();
    const double sum = std::transform_reduce(pixels.begin(), pixels.end(), 0.0, std::plus<>(),
                                             [](std::byte b) { return std::to_integer<int>(b); });
    std::printf("%u×%u, mean %.1f, a read-only view\n", image->head.width(), image->head.height(),
                sum / static_cast<double>(pixels.size()));
    std::fflush(stdout);
  });
  return node.spin();
}
