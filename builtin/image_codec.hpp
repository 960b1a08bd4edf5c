#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hyphos/codec.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "hyphos/result.hpp"

namespace hyphos::builtin {

/// JPEG and PNG files of images, by libjpeg-turbo and libpng. Pure functions, thread-safe.
///
/// Encodings: mono8, rgb8, bgr8, rgba8, bgra8, for PNG also mono16 and 16UC1. JPEG drops alpha.

using Bytes = std::vector<std::byte>;

/// Largest image that probe() accepts, in bytes, so that a small file cannot occupy all memory.
inline constexpr std::size_t kMaxImageBytes = 512 << 20;

/// "" if width, height, step and encoding of the head agree with the pixels. Else the reason.
[[nodiscard]] std::string unusable(const msgs::Image& head, std::span<const std::byte> pixels);

/// The file of a usable image. `quality`: 1 to 100. `unsupported` for an encoding without JPEG.
[[nodiscard]] Result<Bytes> encode_jpeg(const msgs::Image& head, std::span<const std::byte> pixels,
                                        int quality);
/// The file of a usable image, without loss.
[[nodiscard]] Result<Bytes> encode_png(const msgs::Image& head, std::span<const std::byte> pixels);

/// The head of the image in a JPEG or PNG file, by its first bytes: mono8, rgb8, rgba8 or mono16,
/// without stamp and frame. Errors: `corrupt`, `unsupported` (another format),
/// `exhausted` (beyond kMaxImageBytes).
[[nodiscard]] Result<msgs::Image> probe(std::span<const std::byte> file);
/// Writes the pixels of a file. `head` is that of probe(), and `out` has height * step bytes.
[[nodiscard]] Result<void> decode(std::span<const std::byte> file, const msgs::Image& head,
                                  std::span<std::byte> out);

}  // namespace hyphos::builtin
