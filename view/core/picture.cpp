#include "view/core/picture.hpp"

#include <png.h>

#include <algorithm>
#include <cstdlib>

namespace hyphos::view {
namespace {

std::string size_text(const Picture& picture) {
  return std::to_string(picture.width) + " x " + std::to_string(picture.height);
}

}  // namespace

Result<void> write_png(const std::string& path, const Picture& picture) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  // A picture is opaque as a rule, and three bytes a pixel are enough then.
  std::vector<std::uint8_t> rgb;
  rgb.reserve(picture.rgba.size() / 4 * 3);
  bool opaque = true;
  for (std::size_t at = 0; at < picture.rgba.size(); at += 4) {
    rgb.insert(rgb.end(), picture.rgba.begin() + static_cast<std::ptrdiff_t>(at),
               picture.rgba.begin() + static_cast<std::ptrdiff_t>(at + 3));
    opaque = opaque && picture.rgba[at + 3] == 255;
  }
  image.format = opaque ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  image.flags = PNG_IMAGE_FLAG_FAST;  // as small as the others for such pictures
  const std::uint8_t* const pixels = opaque ? rgb.data() : picture.rgba.data();
  if (png_image_write_to_file(&image, path.c_str(), 0, pixels, 0, nullptr) != 0) return success();
  return Error{Code::io, std::string("cannot write the picture: ") + image.message, path};
}

Result<Picture> read_png(const std::string& path) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) {
    return Error{Code::io, std::string("cannot read the picture: ") + image.message, path};
  }
  image.format = PNG_FORMAT_RGBA;
  Picture picture;
  picture.width = static_cast<int>(image.width);
  picture.height = static_cast<int>(image.height);
  picture.rgba.resize(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, picture.rgba.data(), 0, nullptr) == 0) {
    return Error{Code::corrupt, std::string("the picture is damaged: ") + image.message, path};
  }
  return picture;
}

Picture shrink(const Picture& picture, int factor) {
  Picture small;
  small.width = picture.width / factor;
  small.height = picture.height / factor;
  small.rgba.resize(static_cast<std::size_t>(small.width) * static_cast<std::size_t>(small.height) *
                    4);
  const auto wide = static_cast<std::size_t>(picture.width);
  const int count = factor * factor;
  std::size_t to = 0;
  for (int y = 0; y < small.height; ++y) {
    for (int x = 0; x < small.width; ++x) {
      int sum[4] = {count / 2, count / 2, count / 2, count / 2};
      for (int j = 0; j < factor; ++j) {
        const std::size_t row = static_cast<std::size_t>(y * factor + j) * wide;
        for (int i = 0; i < factor; ++i) {
          const std::size_t from = (row + static_cast<std::size_t>(x * factor + i)) * 4;
          for (std::size_t c = 0; c < 4; ++c) sum[c] += picture.rgba[from + c];
        }
      }
      for (const int each : sum) small.rgba[to++] = static_cast<std::uint8_t>(each / count);
    }
  }
  return small;
}

Result<Difference> compare(const Picture& picture, const Picture& golden, int tolerance) {
  if (picture.width != golden.width || picture.height != golden.height) {
    return Error{
        Code::invalid_config,
        "the picture has " + size_text(picture) + " pixels, the other one " + size_text(golden),
        ""};
  }
  const auto apart = [&](int x, int y, int other_x, int other_y) {
    const auto at = [&](int column, int row) {
      return (static_cast<std::size_t>(row) * static_cast<std::size_t>(picture.width) +
              static_cast<std::size_t>(column)) *
             4;
    };
    int most = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      most = std::max(most,
                      std::abs(picture.rgba[at(x, y) + c] - golden.rgba[at(other_x, other_y) + c]));
    }
    return most;
  };
  Difference found;
  found.pixels =
      static_cast<std::uint64_t>(picture.width) * static_cast<std::uint64_t>(picture.height);
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      int least = apart(x, y, x, y);
      found.largest = std::max(found.largest, least);
      for (int j = std::max(y - 1, 0); least > tolerance && j < std::min(y + 2, picture.height);
           ++j) {
        for (int i = std::max(x - 1, 0); i < std::min(x + 2, picture.width); ++i) {
          least = std::min(least, apart(x, y, i, j));
        }
      }
      if (least > tolerance) ++found.different;
    }
  }
  return found;
}

}  // namespace hyphos::view
