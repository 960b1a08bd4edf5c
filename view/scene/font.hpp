#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "view/scene/gl.hpp"

namespace hyphos::view {

/// DejaVu Sans and Sans Mono as TrueType files, part of the program, so that every machine draws
/// the same picture. The user interface has the same fonts.
[[nodiscard]] std::span<const std::byte> sans_font_file();
[[nodiscard]] std::span<const std::byte> mono_font_file();

/// A corner of a letter, in px from the top left of the view.
struct TextVertex {
  float x = 0;
  float y = 0;
  float depth = 0;
  float u = 0;
  float v = 0;
  Color color;
};

/// The glyphs of DejaVu Sans of one height, as one texture.
class Font {
 public:
  explicit Font(int height_px);
  /// Appends the letters of one line of UTF-8. `x`, `y`: the left end of the base line. Letters
  /// without a glyph become a box.
  void append(std::string_view text, float x, float y, float depth, float scale, Color color,
              std::vector<TextVertex>& out) const;
  [[nodiscard]] float width(std::string_view text) const;
  [[nodiscard]] float ascent() const { return ascent_; }
  [[nodiscard]] float line_height() const { return line_height_; }
  /// Uploads at the first call.
  [[nodiscard]] GLuint texture(Gl& gl);

 private:
  struct Glyph {
    float x0 = 0;  // of the rectangle, relative to the pen
    float y0 = 0;
    float x1 = 0;
    float y1 = 0;
    float u0 = 0;
    float v0 = 0;
    float u1 = 0;
    float v1 = 0;
    float advance = 0;
  };
  [[nodiscard]] const Glyph& glyph(char32_t letter) const;

  int size_ = 0;  // of the texture, square
  std::vector<std::uint8_t> pixels_;
  std::map<char32_t, Glyph> glyphs_;
  float ascent_ = 0;
  float line_height_ = 0;
  GlName texture_;
};

/// Fonts by height. Few heights are in use, and one is kept for each.
class Fonts {
 public:
  static constexpr int kLeast = 8;
  static constexpr int kMost = 96;
  Font& get(double height_px);

 private:
  std::map<int, std::unique_ptr<Font>> fonts_;
};

/// The next code point of UTF-8. A wrong byte is U+FFFD. Removes it from `text`.
[[nodiscard]] char32_t next_letter(std::string_view& text);

}  // namespace hyphos::view
