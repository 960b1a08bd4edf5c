#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hyphos/result.hpp"

namespace hyphos::view {

/// RGBA, top row first.
struct Picture {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;
};

[[nodiscard]] Result<void> write_png(const std::string& path, const Picture& picture);
[[nodiscard]] Result<Picture> read_png(const std::string& path);

/// Halves the size, `factor` pixels to one: the end of supersampling.
[[nodiscard]] Picture shrink(const Picture& picture, int factor);

struct Difference {
  std::uint64_t different = 0;  ///< pixels that differ by more than the tolerance
  std::uint64_t pixels = 0;
  int largest = 0;  ///< of any channel, 0 to 255
};

/// Compares by colour. A pixel is equal if one of its neighbours in `golden` is within `tolerance`,
/// as drivers place edges differently by one pixel. invalid_config if the sizes differ.
[[nodiscard]] Result<Difference> compare(const Picture& picture, const Picture& golden,
                                         int tolerance);

}  // namespace hyphos::view
