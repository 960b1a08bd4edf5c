// Draws each picture into shared memory, in the place where the receivers read it.
#include <algorithm>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/sensor.pb.h>

using Picture = hyphos::Attached<hyphos::msgs::Image>;

int main(int argc, char** argv) {
  constexpr std::uint32_t kWidth = 640;
  constexpr std::uint32_t kHeight = 480;
  auto node = hyphos::Node::open("camera", argc, argv).or_throw();
  auto image = node.publisher<Picture>("image");
  node.every(hyphos::Duration::from_ms(100), [=] {
    if (image.listeners() == 0) return;
    hyphos::WritableBuffer pixels = image.loan_bytes(kWidth * kHeight);
    std::ranges::fill(pixels.bytes(), std::byte{42});
    Picture picture;
    picture.head.set_width(kWidth);
    picture.head.set_height(kHeight);
    picture.head.set_step(kWidth);
    picture.head.set_encoding("mono8");
    picture.buffers.push_back(std::move(pixels).freeze());
    image.publish(std::move(picture));
  });
  return node.spin();
}
