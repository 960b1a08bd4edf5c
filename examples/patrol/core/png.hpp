#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "grid_map.hpp"
#include "pose.hpp"

namespace patrol {

// An 8-bit image, top row first.
struct Image {
  int width = 0;     // pixels
  int height = 0;    // pixels
  int channels = 3;  // 1: gray, 3: red, green, blue
  std::vector<std::uint8_t> pixels;

  Image() = default;
  Image(int width, int height, int channels);
  [[nodiscard]] std::uint8_t* at(int x, int y) {
    return pixels.data() + (static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
                            static_cast<std::size_t>(x)) *
                               static_cast<std::size_t>(channels);
  }
};

// The image as a PNG file (ISO/IEC 15948). Throws std::invalid_argument if the sizes do not match.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Image& image);

// Writes the image as PNG. Throws std::runtime_error with the path and the system's reason.
void write_png(const std::string& path, const Image& image);

// The map seen from above, y up: white free, black occupied, gray unknown. The picture is cropped
// to the known area. The trajectory is drawn over the map from blue (start) to red (end). One pixel
// is one cell.
[[nodiscard]] Image draw_map(const GridMap& map, std::span<const Pose2> trajectory = {});

}  // namespace patrol
