#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "builtin/image_codec.hpp"
#include "builtin/joystick.hpp"
#include "builtin/rplidar.hpp"
#include "builtin/urdf.hpp"

namespace {

using namespace hyphos::builtin;

constexpr std::size_t kMostPixels = 1 << 20;  // so that one input stays fast

void read_image(std::span<const std::byte> file) {
  const auto head = probe(file);
  if (!head) return;
  const std::size_t size = std::size_t{head->step()} * head->height();
  if (size > kMostPixels) return;
  Bytes pixels(size);
  if (!decode(file, *head, pixels)) return;
  // A decoded image has a PNG file with the same pixels.
  const auto again = encode_png(*head, pixels);
  if (!again) std::abort();
  Bytes same(size);
  if (!decode(*again, *head, same) || same != pixels) std::abort();
}

void read_model(std::string_view text) {
  const auto model = parse_urdf(text, "fuzz");
  if (!model) return;
  if (model->root.empty()) std::abort();
  for (const UrdfJoint& joint : model->joints) (void)joint.at(joint.rest());
}

void read_laser(std::span<const std::byte> bytes, std::size_t piece) {
  rplidar::Decoder decoder;
  Revolution turn(360);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    decoder.feed(bytes.subspan(at, std::min(piece, bytes.size() - at)),
                 [&](const rplidar::Sample& sample) { turn.add(sample); });
  }
  if (turn.scan({}, {}, 0, 12).ranges_size() != 360) std::abort();
}

}  // namespace

/// The first byte selects the reader: an image file, a URDF model, a laser or a joystick.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const auto rest = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0] % 4) {
    case 0:
      read_image(rest);
      break;
    case 1:
      read_model({reinterpret_cast<const char*>(rest.data()), rest.size()});
      break;
    case 2:
      read_laser(rest, 1 + data[0] / 4U);
      break;
    default: {
      JoystickState state;
      (void)state.feed(rest, 0.1);
      const hyphos::msgs::Joy joy = state.message();
      for (const float axis : joy.axes()) {
        if (!(std::abs(axis) <= 1)) std::abort();
      }
    }
  }
  return 0;
}
