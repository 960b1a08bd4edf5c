#include "builtin/image_codec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "rig.hpp"

namespace hyphos::builtin {
namespace {

using Image = Attached<msgs::Image>;
using File = Attached<msgs::CompressedImage>;

msgs::Image head_of(const std::string& encoding, std::uint32_t width, std::uint32_t height,
                    std::uint32_t pixel_bytes, std::uint32_t padding = 0) {
  msgs::Image head;
  head.set_encoding(encoding);
  head.set_width(width);
  head.set_height(height);
  head.set_step(width * pixel_bytes + padding);
  return head;
}

/// A smooth picture, which JPEG keeps well.
Bytes gradient(const msgs::Image& head) {
  Bytes bytes(std::size_t{head.step()} * head.height());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(i % head.step() / 2 + i / head.step());
  }
  return bytes;
}

class Lossless : public testing::TestWithParam<std::pair<const char*, std::uint32_t>> {};

TEST_P(Lossless, png_keeps_every_pixel) {
  const auto [encoding, size] = GetParam();
  const std::uint32_t padding = size == 2 ? 6 : 5;
  const msgs::Image head = head_of(encoding, 17, 9, size, padding);
  const Bytes pixels = gradient(head);
  ASSERT_EQ(unusable(head, pixels), "");
  const Bytes file = encode_png(head, pixels).or_throw();
  msgs::Image found = probe(file).or_throw();
  EXPECT_EQ(found.width(), 17U);
  EXPECT_EQ(found.height(), 9U);
  ASSERT_EQ(found.step(), 17 * size);
  found.set_encoding(encoding);  // colours are stored in one order, and read in any
  Bytes out(std::size_t{found.step()} * 9);
  ASSERT_TRUE(decode(file, found, out));
  for (std::size_t row = 0; row < 9; ++row) {
    EXPECT_EQ(std::memcmp(out.data() + row * found.step(), pixels.data() + row * head.step(),
                          found.step()),
              0)
        << "row " << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Encodings, Lossless,
                         testing::Values(std::pair{"mono8", 1U}, std::pair{"rgb8", 3U},
                                         std::pair{"bgr8", 3U}, std::pair{"rgba8", 4U},
                                         std::pair{"bgra8", 4U}, std::pair{"mono16", 2U},
                                         std::pair{"16UC1", 2U}));

TEST(Jpeg, a_smooth_picture_stays_alike_in_each_colour_order) {
  for (const char* encoding : {"rgb8", "bgr8"}) {
    const msgs::Image head = head_of(encoding, 64, 48, 3, 3);
    const Bytes pixels = gradient(head);
    const Bytes file = encode_jpeg(head, pixels, 95).or_throw();
    EXPECT_LT(file.size(), pixels.size() / 2);
    msgs::Image found = probe(file).or_throw();
    EXPECT_EQ(found.encoding(), "rgb8");
    found.set_encoding(encoding);
    Bytes out(std::size_t{found.step()} * found.height());
    ASSERT_TRUE(decode(file, found, out));
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto row = i / found.step();
      const auto column = i % found.step();
      sum += std::abs(std::to_integer<int>(out[i]) -
                      std::to_integer<int>(pixels[row * head.step() + column]));
    }
    EXPECT_LT(sum / static_cast<double>(out.size()), 4) << encoding;
  }
}

TEST(Jpeg, depth_images_are_refused_with_the_remedy) {
  const msgs::Image head = head_of("16UC1", 4, 4, 2);
  const auto made = encode_jpeg(head, gradient(head), 90);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("png"), std::string::npos);
}

TEST(ImageCodec, heads_that_lie_are_unusable) {
  const msgs::Image good = head_of("rgb8", 4, 4, 3);
  const Bytes pixels = gradient(good);
  EXPECT_EQ(unusable(good, pixels), "");
  EXPECT_NE(unusable(good, std::span(pixels).first(47)), "");
  msgs::Image bad = good;
  bad.set_step(11);
  EXPECT_NE(unusable(bad, pixels), "");
  bad = good;
  bad.set_encoding("nv21");
  EXPECT_NE(unusable(bad, pixels).find("nv21"), std::string::npos);
  bad = good;
  bad.set_width(0xffff'ffff);
  bad.set_height(0xffff'ffff);
  EXPECT_NE(unusable(bad, pixels), "");
}

TEST(ImageCodec, damaged_files_are_errors) {
  const msgs::Image head = head_of("rgb8", 32, 32, 3);
  for (const Bytes& whole : {encode_png(head, gradient(head)).or_throw(),
                             encode_jpeg(head, gradient(head), 90).or_throw()}) {
    // The last chunk of PNG and the last marker of JPEG have no pixels.
    for (std::size_t size = 0; size + 12 < whole.size(); ++size) {
      const auto part = std::span(whole).first(size);
      const auto found = probe(part);
      if (!found) continue;
      Bytes out(std::size_t{found->step()} * found->height());
      EXPECT_FALSE(decode(part, *found, out)) << "of " << whole.size() << " bytes: " << size;
    }
  }
  EXPECT_FALSE(probe(Bytes(100, std::byte{1})));
}

TEST(ImageCodec, a_small_file_of_a_huge_image_is_refused) {
  Bytes file = encode_png(head_of("mono8", 1, 1, 1), Bytes(1)).or_throw();
  // Width and height of the IHDR chunk, and its checksum.
  const std::uint8_t huge[] = {0, 1, 0, 0, 0, 1, 0, 0};
  std::memcpy(file.data() + 16, huge, sizeof(huge));
  const auto found = probe(file);
  EXPECT_FALSE(found);
}

TEST(ImageNodes, a_picture_survives_both_nodes) {
  Rig rig("compress_image", "{format: png}");
  rig.start();
  const Node& test = rig.node();
  Inbox<File> files(test, "image/compressed");
  const auto pictures = test.publisher<Image>("image");
  Image picture;
  picture.head = head_of("rgb8", 8, 8, 3);
  picture.head.mutable_header()->set_stamp_ns(7);
  picture.head.mutable_header()->set_frame_id("eye");
  const Bytes pixels = gradient(picture.head);
  picture.buffers.push_back(Buffer::copy_of(pixels));
  pictures.publish(picture);
  const auto file = files.next();
  EXPECT_EQ(file->head.format(), "png");
  EXPECT_EQ(file->head.header().stamp_ns(), 7);

  Rig back("decompress_image", "{}");
  back.start();
  const Node& other = back.node();
  Inbox<Image> images(other, "image");
  other.publisher<File>("image/compressed").publish(*file);
  const auto found = images.next();
  EXPECT_EQ(found->head.header().frame_id(), "eye");
  ASSERT_EQ(found->buffers[0].size(), pixels.size());
  EXPECT_EQ(std::memcmp(found->buffers[0].data(), pixels.data(), pixels.size()), 0);
}

TEST(ImageNodes, unusable_pictures_are_counted) {
  Rig rig("compress_image", "{}");
  rig.start();
  const Node& test = rig.node();
  Inbox<File> files(test, "image/compressed");
  const auto pictures = test.publisher<Image>("image");
  Image picture;
  picture.head = head_of("16UC1", 8, 8, 2);
  picture.buffers.push_back(Buffer::copy_of(gradient(picture.head)));
  pictures.publish(picture);  // JPEG has no depth
  picture.buffers.clear();
  pictures.publish(picture);
  picture.head = head_of("mono8", 8, 8, 1);
  picture.buffers.push_back(Buffer::copy_of(gradient(picture.head)));
  pictures.publish(picture);
  (void)files.next();
  EXPECT_EQ(rig.tested().params().values().get<std::int64_t>("refused"), 2);
}

}  // namespace
}  // namespace hyphos::builtin
