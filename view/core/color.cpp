#include "view/core/color.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace hyphos::view {
namespace {

std::uint8_t to_byte(double value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 1.0) * 255));
}

// The polynomials give red, green and blue of a scale within 1/100.
using Coefficients = std::array<std::array<double, 7>, 3>;

double polynomial(const std::array<double, 7>& c, double x) {
  double sum = 0;
  for (std::size_t i = c.size(); i-- > 0;) sum = sum * x + c[i];
  return sum;
}

// A. Mikhailov, "Turbo, an improved rainbow colormap": the approximation of its article.
constexpr Coefficients kTurbo = {{
    {0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943, 0},
    {0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604, 0},
    {0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973, 0},
}};

// A fit to viridis of matplotlib (M. Zucker).
constexpr Coefficients kViridis = {{
    {0.2777273272, 0.1050930431, -0.3308618287, -4.6342304990, 6.2282699347, 4.7763849826,
     -5.4354558559},
    {0.0054073445, 1.4046135299, 0.2148475595, -5.7991009733, 14.1799333668, -13.7451453777,
     4.6458526122},
    {0.3340998053, 1.3845901626, 0.0950951630, -19.3324409563, 56.6905526006, -65.3530326334,
     26.3124352495},
}};

}  // namespace

Color Color::with_alpha(double alpha) const { return {r, g, b, to_byte(alpha)}; }

std::optional<Color> parse_color(std::string_view text) {
  if ((text.size() != 7 && text.size() != 9) || text.front() != '#') return std::nullopt;
  std::array<std::uint8_t, 4> bytes{0, 0, 0, 255};
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    int digit = 0;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else {
      return std::nullopt;
    }
    std::uint8_t& byte = bytes[(i - 1) / 2];
    byte = static_cast<std::uint8_t>(i % 2 == 1 ? digit * 16 : byte + digit);
  }
  return Color{bytes[0], bytes[1], bytes[2], bytes[3]};
}

std::string to_string(Color color) {
  char text[10];
  if (color.a == 255) {
    std::snprintf(text, sizeof(text), "#%02x%02x%02x", color.r, color.g, color.b);
  } else {
    std::snprintf(text, sizeof(text), "#%02x%02x%02x%02x", color.r, color.g, color.b, color.a);
  }
  return text;
}

Color map_color(ColorMap map, double at) {
  const double x = std::isfinite(at) ? std::clamp(at, 0.0, 1.0) : 0.0;
  if (map == ColorMap::gray) return {to_byte(x), to_byte(x), to_byte(x), 255};
  const Coefficients& c = map == ColorMap::turbo ? kTurbo : kViridis;
  return {to_byte(polynomial(c[0], x)), to_byte(polynomial(c[1], x)), to_byte(polynomial(c[2], x)),
          255};
}

}  // namespace hyphos::view
