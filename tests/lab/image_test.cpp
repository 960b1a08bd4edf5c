#include "lab/peers/image.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace hyphos::lab {
namespace {

using std::string_literals::operator""s;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

// A size whose byte order is visible.
constexpr std::size_t kPixels = 0x0102;

TEST(Image, has_the_head_that_ros_1_writes) {
  EXPECT_EQ(image_head(ImageWire::ros1, kPixels),
            "\0\0\0\0"s            // seq
            "\0\0\0\0\0\0\0\0"s    // stamp
            "\0\0\0\0"s            // frame_id: no letters
            "\1\0\0\0\2\1\0\0"s    // height, width
            "\5\0\0\0mono8"s       // encoding
            "\0"s                  // is_bigendian
            "\2\1\0\0\2\1\0\0"s);  // step, pixels
}

TEST(Image, has_the_head_that_ros_2_writes) {
  EXPECT_EQ(image_head(ImageWire::cdr, kPixels),
            "\0\1\0\0"s            // encapsulation: plain CDR, little endian
            "\0\0\0\0\0\0\0\0"s    // stamp
            "\1\0\0\0\0\0\0\0"s    // frame_id: the 0 at its end, then up to the next number
            "\1\0\0\0\2\1\0\0"s    // height, width
            "\6\0\0\0mono8\0"s     // encoding
            "\0\0"s                // is_bigendian, then up to the next number
            "\2\1\0\0\2\1\0\0"s);  // step, pixels
}

class ImagePixels : public testing::TestWithParam<ImageWire> {};
INSTANTIATE_TEST_SUITE_P(Wires, ImagePixels, testing::Values(ImageWire::ros1, ImageWire::cdr));

TEST_P(ImagePixels, are_found_after_the_head) {
  const std::string image = image_head(GetParam(), kPixels) + std::string(kPixels, 'x');
  const auto pixels = pixels_of(GetParam(), bytes_of(image));
  ASSERT_EQ(pixels.size(), kPixels);
  EXPECT_EQ(pixels.front(), std::byte{'x'});
  EXPECT_EQ(pixels.data() + pixels.size(), bytes_of(image).data() + image.size());
}

TEST_P(ImagePixels, are_found_after_a_frame_with_a_name) {
  const bool cdr = GetParam() == ImageWire::cdr;
  std::string image = image_head(GetParam(), kPixels) + std::string(kPixels, 'x');
  image.replace(12, cdr ? 8 : 4, cdr ? "\6\0\0\0front\0\0\0"s : "\5\0\0\0front"s);
  EXPECT_EQ(pixels_of(GetParam(), bytes_of(image)).size(), kPixels);
}

TEST_P(ImagePixels, are_empty_for_a_truncated_message) {
  const std::string image = image_head(GetParam(), kPixels) + std::string(kPixels, 'x');
  for (std::size_t size = 0; size < image.size(); ++size) {
    EXPECT_TRUE(pixels_of(GetParam(), bytes_of(image).first(size)).empty()) << size;
  }
}

}  // namespace
}  // namespace hyphos::lab
