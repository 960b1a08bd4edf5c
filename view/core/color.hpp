#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hyphos::view {

/// sRGB with straight alpha, in the byte order of a GL_RGBA8 vertex attribute.
struct Color {
  std::uint8_t r = 255;
  std::uint8_t g = 255;
  std::uint8_t b = 255;
  std::uint8_t a = 255;

  bool operator==(const Color&) const = default;
  /// The same colour with another opacity, 0 to 1.
  [[nodiscard]] Color with_alpha(double alpha) const;
};

/// "#rrggbb" or "#rrggbbaa".
[[nodiscard]] std::optional<Color> parse_color(std::string_view text);
[[nodiscard]] std::string to_string(Color color);

/// Scales of colours for values. `at` is clamped to [0, 1].
enum class ColorMap : std::uint8_t { turbo, viridis, gray };
[[nodiscard]] Color map_color(ColorMap map, double at);

}  // namespace hyphos::view
