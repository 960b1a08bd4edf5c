#include "png.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace patrol {
namespace {

struct Chunk {
  std::string type;
  std::vector<std::uint8_t> data;
};

std::uint32_t read_u32(const std::uint8_t* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 | p[3];
}

// The chunks of a PNG file, with verified checksums.
std::vector<Chunk> chunks_of(const std::vector<std::uint8_t>& file) {
  std::vector<Chunk> out;
  std::size_t at = 8;
  while (at + 12 <= file.size()) {
    const std::uint32_t size = read_u32(file.data() + at);
    if (at + 12 + size > file.size()) break;
    const auto* body = file.data() + at + 4;
    EXPECT_EQ(crc32(0, body, size + 4), read_u32(body + 4 + size));
    out.push_back({std::string(body, body + 4), {body + 4, body + 4 + size}});
    at += 12 + size;
  }
  EXPECT_EQ(at, file.size());
  return out;
}

// Reverses the filters none, sub and up. Written from the standard, independent of the encoder.
Image decode(const std::vector<std::uint8_t>& file) {
  const std::vector<Chunk> chunks = chunks_of(file);
  EXPECT_EQ(chunks.front().type, "IHDR");
  EXPECT_EQ(chunks.back().type, "IEND");
  const std::vector<std::uint8_t>& header = chunks.front().data;
  EXPECT_EQ(header[8], 8) << "bits per sample";
  Image image(static_cast<int>(read_u32(header.data())),
              static_cast<int>(read_u32(header.data() + 4)), header[9] == 2 ? 3 : 1);
  const auto pixel = static_cast<std::size_t>(image.channels);
  const std::size_t row = static_cast<std::size_t>(image.width) * pixel;
  std::vector<std::uint8_t> packed;
  for (const Chunk& c : chunks) {
    if (c.type == "IDAT") packed.insert(packed.end(), c.data.begin(), c.data.end());
  }
  std::vector<std::uint8_t> raw((row + 1) * static_cast<std::size_t>(image.height));
  uLongf size = raw.size();
  EXPECT_EQ(uncompress(raw.data(), &size, packed.data(), packed.size()), Z_OK);
  EXPECT_EQ(size, raw.size());
  for (std::size_t y = 0; y < static_cast<std::size_t>(image.height); ++y) {
    const int filter = raw[y * (row + 1)];
    for (std::size_t i = 0; i < row; ++i) {
      std::uint8_t& out = image.pixels[y * row + i];
      int base = 0;
      if (filter == 1 && i >= pixel) base = image.pixels[y * row + i - pixel];
      if (filter == 2 && y > 0) base = image.pixels[(y - 1) * row + i];
      out = static_cast<std::uint8_t>(raw[y * (row + 1) + 1 + i] + base);
      EXPECT_LE(filter, 2);
    }
  }
  return image;
}

TEST(Png, a_png_decodes_to_the_encoded_image) {
  for (const int channels : {1, 3}) {
    Image image(37, 23, channels);
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      image.pixels[i] = static_cast<std::uint8_t>(i * i * 31 + i / 7);
    }
    const std::vector<std::uint8_t> file = encode_png(image);
    EXPECT_EQ(std::memcmp(file.data(), "\x89PNG\r\n\x1a\n", 8), 0);
    const Image back = decode(file);
    EXPECT_EQ(back.width, 37);
    EXPECT_EQ(back.height, 23);
    EXPECT_EQ(back.channels, channels);
    EXPECT_EQ(back.pixels, image.pixels);
  }
}

TEST(Png, an_image_with_inconsistent_sizes_is_refused) {
  Image image(4, 4, 3);
  image.pixels.pop_back();
  EXPECT_THROW((void)encode_png(image), std::invalid_argument);
  EXPECT_THROW((void)encode_png(Image(0, 0, 3)), std::invalid_argument);
  EXPECT_THROW((void)encode_png(Image(2, 2, 2)), std::invalid_argument);
}

TEST(Png, a_file_that_cannot_be_written_is_named) {
  try {
    write_png("/nonexistent-folder/map.png", Image(2, 2, 1));
    FAIL() << "was written";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("/nonexistent-folder/map.png"), std::string::npos);
  }
}

TEST(DrawMap, the_map_is_cropped_and_has_y_up) {
  GridMap map{0.1, {0.0, 0.0}, 100, 100, std::vector<std::int8_t>(100 * 100, -1)};
  map.percents[50 * 100 + 40] = 100;  // cell (40, 50)
  map.percents[60 * 100 + 70] = 0;    // cell (70, 60)
  Image image = draw_map(map);
  const int border = (image.width - 31) / 2;
  ASSERT_EQ(image.width, 31 + 2 * border);
  ASSERT_EQ(image.height, 11 + 2 * border);
  EXPECT_EQ(*image.at(border, border + 10), 0) << "occupied, lower left";
  EXPECT_EQ(*image.at(border + 30, border), 255) << "free, upper right";
  EXPECT_EQ(*image.at(0, 0), 205) << "unknown";
}

TEST(DrawMap, the_trajectory_is_drawn_from_blue_to_red) {
  GridMap map{0.1, {0.0, 0.0}, 100, 10, std::vector<std::int8_t>(100 * 10, 0)};
  std::vector<Pose2> way;
  for (int i = 0; i < 90; ++i) way.push_back({0.55 + 0.1 * i, 0.55, 0.0});
  Image image = draw_map(map, way);
  const int border = (image.width - 100) / 2;
  const std::uint8_t* first = image.at(border + 6, border + 4);
  const std::uint8_t* last = image.at(border + 93, border + 4);
  EXPECT_GT(first[2], 200);
  EXPECT_LT(first[0], 60);
  EXPECT_GT(last[0], 200);
  EXPECT_LT(last[2], 60);
}

TEST(DrawMap, an_empty_map_is_still_an_image) {
  const Image image = draw_map(GridMap{});
  EXPECT_EQ(decode(encode_png(image)).pixels, image.pixels);
}

}  // namespace
}  // namespace patrol
