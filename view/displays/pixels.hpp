#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"
#include "view/core/color.hpp"
#include "view/core/sample.hpp"
#include "view/scene/store.hpp"

namespace hyphos::view {

/// An image that a screen can show.
struct Pixels {
  int width = 0;
  int height = 0;
  PixelFormat format = PixelFormat::rgba8;
  std::vector<std::byte> bytes;  ///< rows without gaps, top row first
  std::string description;       ///< "640 x 480 rgb8", "… 16UC1, 0.4 to 5.2 m"
  std::string frame;
  Time stamp;
};

/// Range of depth images and other numbers, in their unit. Equal: from the image itself.
struct DepthRange {
  double low = 0;
  double high = 0;
};

inline constexpr std::uint64_t kMostPixels = 16'384ULL * 16'384ULL;

/// Decodes a hyphos.msgs.Image of any usual encoding, or a hyphos.msgs.CompressedImage (jpeg, png).
/// Depth and 16-bit images get the colours of `map`. The error is one sentence: a size that lies,
/// an unknown encoding with the known ones, a damaged file.
[[nodiscard]] Result<Pixels> decode_image(std::string_view type, const Sample& sample,
                                          DepthRange range = {}, ColorMap map = ColorMap::turbo);

/// Decodes a JPEG or PNG file of at most `most` pixels. The first bytes decide. `name` is for the
/// error.
[[nodiscard]] Result<Pixels> decode_file(std::span<const std::byte> bytes, std::string_view name,
                                         std::uint64_t most = kMostPixels);

}  // namespace hyphos::view
