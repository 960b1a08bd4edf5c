#include "png.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace patrol {
namespace {

constexpr std::uint8_t kUnknownGray = 205;

void put_u32(std::vector<std::uint8_t>& out, std::uint32_t v) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<std::uint8_t>(v >> shift));
}

void put_chunk(std::vector<std::uint8_t>& out, const char* type,
               std::span<const std::uint8_t> data) {
  put_u32(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = out.size();
  out.insert(out.end(), type, type + 4);
  out.insert(out.end(), data.begin(), data.end());
  put_u32(out, static_cast<std::uint32_t>(
                   crc32(0, out.data() + begin, static_cast<uInt>(out.size() - begin))));
}

void draw_line(Image& image, int x0, int y0, int x1, int y1, std::array<std::uint8_t, 3> color) {
  const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
  for (int i = 0; i <= steps; ++i) {
    const int x = x0 + (x1 - x0) * i / steps, y = y0 + (y1 - y0) * i / steps;
    if (x < 0 || y < 0 || x >= image.width || y >= image.height) continue;
    std::copy(color.begin(), color.end(), image.at(x, y));
  }
}

}  // namespace

Image::Image(int w, int h, int c)
    : width(w),
      height(h),
      channels(c),
      pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h) *
             static_cast<std::size_t>(c)) {}

std::vector<std::uint8_t> encode_png(const Image& image) {
  const std::size_t row =
      static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.channels);
  if (image.width < 1 || image.height < 1 || (image.channels != 1 && image.channels != 3) ||
      image.pixels.size() != row * static_cast<std::size_t>(image.height)) {
    throw std::invalid_argument("encode_png: the image's sizes do not agree");
  }
  // Each row begins with its filter. Filter 2, the difference to the row above, suits maps and
  // walls.
  std::vector<std::uint8_t> filtered;
  filtered.reserve((row + 1) * static_cast<std::size_t>(image.height));
  for (std::size_t y = 0; y < static_cast<std::size_t>(image.height); ++y) {
    const std::uint8_t* now = image.pixels.data() + y * row;
    filtered.push_back(2);
    for (std::size_t i = 0; i < row; ++i) {
      const std::uint8_t above =
          y == 0 ? std::uint8_t{0}
                 : now[static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(row)];
      filtered.push_back(static_cast<std::uint8_t>(now[i] - above));
    }
  }
  uLongf size = compressBound(filtered.size());
  std::vector<std::uint8_t> packed(size);
  if (compress2(packed.data(), &size, filtered.data(), filtered.size(), 6) != Z_OK) {
    throw std::runtime_error("encode_png: zlib failed");
  }
  packed.resize(size);

  std::vector<std::uint8_t> out = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  std::vector<std::uint8_t> header;
  put_u32(header, static_cast<std::uint32_t>(image.width));
  put_u32(header, static_cast<std::uint32_t>(image.height));
  const std::uint8_t color_type = image.channels == 1 ? 0 : 2;
  header.insert(header.end(), {8, color_type, 0, 0, 0});
  put_chunk(out, "IHDR", header);
  put_chunk(out, "IDAT", packed);
  put_chunk(out, "IEND", {});
  return out;
}

void write_png(const std::string& path, const Image& image) {
  const std::vector<std::uint8_t> bytes = encode_png(image);
  std::ofstream file(path, std::ios::binary);
  for (const std::uint8_t b : bytes) file.put(static_cast<char>(b));
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written: " + std::strerror(errno));
}

Image draw_map(const GridMap& map, std::span<const Pose2> trajectory) {
  int left = map.width, right = -1, low = map.height, high = -1;
  for (int y = 0; y < map.height; ++y) {
    for (int x = 0; x < map.width; ++x) {
      if (map.percent(x, y) < 0) continue;
      left = std::min(left, x), right = std::max(right, x);
      low = std::min(low, y), high = std::max(high, y);
    }
  }
  if (right < 0) {
    Image nothing(1, 1, 3);
    std::fill(nothing.pixels.begin(), nothing.pixels.end(), kUnknownGray);
    return nothing;
  }
  constexpr int kBorder = 8;
  left -= kBorder, low -= kBorder, right += kBorder, high += kBorder;
  Image image(right - left + 1, high - low + 1, 3);
  for (int y = low; y <= high; ++y) {
    for (int x = left; x <= right; ++x) {
      std::uint8_t gray = kUnknownGray;
      if (map.contains(x, y) && map.percent(x, y) >= 0) {
        gray = static_cast<std::uint8_t>(255 - 255 * map.percent(x, y) / 100);
      }
      std::fill_n(image.at(x - left, high - y), 3, gray);
    }
  }
  auto shown = [&](const Pose2& pose) {
    const int x = map.cell_x(pose.x), y = map.cell_y(pose.y);
    return x >= left && x <= right && y >= low && y <= high;
  };
  for (std::size_t i = 1; i < trajectory.size(); ++i) {
    const Pose2 &a = trajectory[i - 1], &b = trajectory[i];
    // Faulty wheel data can place a robot far outside the picture.
    if (!shown(a) || !shown(b)) continue;
    const auto red = static_cast<std::uint8_t>(255 * i / trajectory.size());
    draw_line(image, map.cell_x(a.x) - left, high - map.cell_y(a.y), map.cell_x(b.x) - left,
              high - map.cell_y(b.y), {red, 60, static_cast<std::uint8_t>(255 - red)});
  }
  return image;
}

}  // namespace patrol
