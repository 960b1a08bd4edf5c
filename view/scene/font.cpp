#include "view/scene/font.hpp"

#include <algorithm>
#include <cmath>

// Debian builds stb as a library. Only its declarations are needed.
#include <stb_truetype.h>

namespace hyphos::view {
namespace {

// Latin, Greek, Cyrillic, and the signs of units, arrows and arithmetic.
constexpr std::array<std::pair<int, int>, 7> kRanges = {{{0x20, 0x7E},
                                                         {0xA0, 0x17F},
                                                         {0x370, 0x3FF},
                                                         {0x400, 0x45F},
                                                         {0x2010, 0x2026},
                                                         {0x2190, 0x2195},
                                                         {0x2200, 0x2265}}};
constexpr char32_t kReplacement = 0xFFFD;

}  // namespace

char32_t next_letter(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  text.remove_prefix(1);
  if (lead < 0x80) return lead;
  const int more = lead >= 0xF0 && lead < 0xF8 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  if (more == 0 || lead >= 0xF8) return kReplacement;
  char32_t letter = lead & (0x3FU >> more);
  for (int i = 0; i < more; ++i) {
    if (text.empty() || (static_cast<unsigned char>(text.front()) & 0xC0U) != 0x80) {
      return kReplacement;
    }
    letter = (letter << 6U) | (static_cast<unsigned char>(text.front()) & 0x3FU);
    text.remove_prefix(1);
  }
  return letter;
}

Font::Font(int height_px) {
  const auto file = sans_font_file();
  const auto* data = reinterpret_cast<const unsigned char*>(file.data());
  stbtt_fontinfo info;
  if (stbtt_InitFont(&info, data, 0) == 0) return;
  const float scale = stbtt_ScaleForPixelHeight(&info, static_cast<float>(height_px));
  int ascent = 0;
  int descent = 0;
  int gap = 0;
  stbtt_GetFontVMetrics(&info, &ascent, &descent, &gap);
  ascent_ = static_cast<float>(ascent) * scale;
  line_height_ = static_cast<float>(ascent - descent + gap) * scale;
  std::vector<stbtt_pack_range> ranges;
  std::vector<std::vector<stbtt_packedchar>> packed;
  for (const auto& [first, last] : kRanges) {
    packed.emplace_back(static_cast<std::size_t>(last - first + 1));
  }
  for (std::size_t i = 0; i < kRanges.size(); ++i) {
    stbtt_pack_range range{};
    range.font_size = static_cast<float>(height_px);
    range.first_unicode_codepoint_in_range = kRanges[i].first;
    range.num_chars = static_cast<int>(packed[i].size());
    range.chardata_for_range = packed[i].data();
    ranges.push_back(range);
  }
  bool fits = false;
  for (size_ = 256; !fits && size_ <= 4'096; size_ *= 2) {
    pixels_.assign(static_cast<std::size_t>(size_) * static_cast<std::size_t>(size_), 0);
    stbtt_pack_context context{};
    if (stbtt_PackBegin(&context, pixels_.data(), size_, size_, 0, 1, nullptr) == 0) return;
    fits = stbtt_PackFontRanges(&context, data, 0, ranges.data(),
                                static_cast<int>(ranges.size())) != 0;
    stbtt_PackEnd(&context);
    if (fits) break;
  }
  for (std::size_t i = 0; i < kRanges.size(); ++i) {
    for (std::size_t j = 0; j < packed[i].size(); ++j) {
      float x = 0;
      float y = 0;
      stbtt_aligned_quad quad{};
      stbtt_GetPackedQuad(packed[i].data(), size_, size_, static_cast<int>(j), &x, &y, &quad, 0);
      glyphs_.emplace(
          static_cast<char32_t>(kRanges[i].first) + static_cast<char32_t>(j),
          Glyph{quad.x0, quad.y0, quad.x1, quad.y1, quad.s0, quad.t0, quad.s1, quad.t1, x});
    }
  }
}

const Font::Glyph& Font::glyph(char32_t letter) const {
  static const Glyph kNone{};
  auto found = glyphs_.find(letter);
  if (found == glyphs_.end()) found = glyphs_.find(U'?');
  return found == glyphs_.end() ? kNone : found->second;
}

void Font::append(std::string_view text, float x, float y, float depth, float scale, Color color,
                  std::vector<TextVertex>& out) const {
  while (!text.empty()) {
    const Glyph& g = glyph(next_letter(text));
    const float x0 = x + g.x0 * scale;
    const float x1 = x + g.x1 * scale;
    const float y0 = y + g.y0 * scale;
    const float y1 = y + g.y1 * scale;
    const TextVertex a{x0, y0, depth, g.u0, g.v0, color};
    const TextVertex b{x1, y0, depth, g.u1, g.v0, color};
    const TextVertex c{x0, y1, depth, g.u0, g.v1, color};
    const TextVertex d{x1, y1, depth, g.u1, g.v1, color};
    for (const TextVertex& each : {a, b, c, b, d, c}) out.push_back(each);
    x += g.advance * scale;
  }
}

float Font::width(std::string_view text) const {
  float sum = 0;
  while (!text.empty()) sum += glyph(next_letter(text)).advance;
  return sum;
}

GLuint Font::texture(Gl& gl) {
  if (!texture_) {
    texture_ = make_texture(gl);
    gl.BindTexture(GL_TEXTURE_2D, texture_.get());
    gl.PixelStorei(GL_UNPACK_ALIGNMENT, 1);
    gl.TexImage2D(GL_TEXTURE_2D, 0, GL_R8, size_, size_, 0, GL_RED, GL_UNSIGNED_BYTE,
                  pixels_.data());
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    gl.TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    pixels_ = {};
  }
  return texture_.get();
}

Font& Fonts::get(double height_px) {
  const double bounded =
      std::isfinite(height_px) ? std::clamp<double>(height_px, kLeast, kMost) : kLeast;
  const int height = static_cast<int>(std::lround(bounded));
  auto& font = fonts_[height];
  if (font == nullptr) font = std::make_unique<Font>(height);
  return *font;
}

}  // namespace hyphos::view
