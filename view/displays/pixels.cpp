#include "view/displays/pixels.hpp"

#include <png.h>
#include <turbojpeg.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>

#include "hyphos/msgs/sensor.pb.h"
#include "view/core/words.hpp"
#include "view/displays/message.hpp"

namespace hyphos::view {
namespace {

std::string size_text(std::uint64_t width, std::uint64_t height) {
  return grouped(width) + " x " + grouped(height);
}

/// One row of an uncompressed image, to RGBA or gray.
using Row = void (*)(const std::byte* from, std::byte* to, std::size_t width);

template <std::size_t kR, std::size_t kG, std::size_t kB, std::size_t kA, std::size_t kStep>
void colors(const std::byte* from, std::byte* to, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i, from += kStep, to += 4) {
    to[0] = from[kR];
    to[1] = from[kG];
    to[2] = from[kB];
    to[3] = kA < kStep ? from[kA] : std::byte{255};
  }
}

void gray(const std::byte* from, std::byte* to, std::size_t width) { std::memcpy(to, from, width); }

std::byte clamp_byte(double value) { return static_cast<std::byte>(std::clamp(value, 0.0, 255.0)); }

// BT.601, as cameras send it. `kY`: the place of the first luma of two pixels.
template <std::size_t kY>
void yuv422(const std::byte* from, std::byte* to, std::size_t width) {
  const auto at = [&](std::size_t i) { return static_cast<double>(from[i]); };
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t pair = i / 2 * 4;
    const double y = 1.164 * (at(pair + kY + i % 2 * 2) - 16);
    const double u = at(pair + 1 - kY) - 128;
    const double v = at(pair + 3 - kY) - 128;
    to[4 * i] = clamp_byte(y + 1.596 * v);
    to[4 * i + 1] = clamp_byte(y - 0.392 * u - 0.813 * v);
    to[4 * i + 2] = clamp_byte(y + 2.017 * u);
    to[4 * i + 3] = std::byte{255};
  }
}

struct Encoding8 {
  std::string_view name;
  std::size_t bytes;  // of a pixel
  PixelFormat format;
  Row row;
};

constexpr std::size_t kNone = 99;
// A Bayer pattern is shown as its raw brightness.
constexpr std::array kEncodings = {
    Encoding8{"rgb8", 3, PixelFormat::rgba8, &colors<0, 1, 2, kNone, 3>},
    Encoding8{"bgr8", 3, PixelFormat::rgba8, &colors<2, 1, 0, kNone, 3>},
    Encoding8{"rgba8", 4, PixelFormat::rgba8, &colors<0, 1, 2, 3, 4>},
    Encoding8{"bgra8", 4, PixelFormat::rgba8, &colors<2, 1, 0, 3, 4>},
    Encoding8{"8UC3", 3, PixelFormat::rgba8, &colors<2, 1, 0, kNone, 3>},
    Encoding8{"8UC4", 4, PixelFormat::rgba8, &colors<2, 1, 0, 3, 4>},
    Encoding8{"mono8", 1, PixelFormat::gray8, &gray},
    Encoding8{"8UC1", 1, PixelFormat::gray8, &gray},
    Encoding8{"bayer_rggb8", 1, PixelFormat::gray8, &gray},
    Encoding8{"bayer_bggr8", 1, PixelFormat::gray8, &gray},
    Encoding8{"bayer_gbrg8", 1, PixelFormat::gray8, &gray},
    Encoding8{"bayer_grbg8", 1, PixelFormat::gray8, &gray},
    Encoding8{"yuv422", 2, PixelFormat::rgba8, &yuv422<1>},
    Encoding8{"uyvy", 2, PixelFormat::rgba8, &yuv422<1>},
    Encoding8{"yuv422_yuy2", 2, PixelFormat::rgba8, &yuv422<0>},
    Encoding8{"yuyv", 2, PixelFormat::rgba8, &yuv422<0>},
};

template <typename T>
double number(const std::byte* from, bool swap) {
  std::byte bytes[sizeof(T)];
  std::memcpy(bytes, from, sizeof(T));
  if (swap) std::reverse(std::begin(bytes), std::end(bytes));
  return static_cast<double>(std::bit_cast<T>(bytes));
}

struct EncodingWide {
  std::string_view name;
  std::size_t bytes;
  double (*read)(const std::byte* from, bool swap);
  double unit;  // to m, 0: no depth
};

constexpr std::array kWide = {
    EncodingWide{"16UC1", 2, &number<std::uint16_t>, 0.001},
    EncodingWide{"mono16", 2, &number<std::uint16_t>, 0},
    EncodingWide{"16SC1", 2, &number<std::int16_t>, 0},
    EncodingWide{"32FC1", 4, &number<float>, 1},
    EncodingWide{"64FC1", 8, &number<double>, 1},
};

Result<void> check_size(const msgs::Image& head, std::size_t pixel, std::size_t bytes) {
  const std::uint64_t count = std::uint64_t{head.width()} * head.height();
  if (count == 0) return corrupt("the image has no pixel");
  if (count > kMostPixels) {
    return corrupt("the image has " + size_text(head.width(), head.height()) +
                   " pixels, the limit is " + grouped(kMostPixels));
  }
  const std::uint64_t row = std::uint64_t{head.width()} * pixel;
  if (head.step() < row) {
    return corrupt("a row of " + grouped(head.width()) + " pixels needs " + grouped(row) +
                   " bytes, but step is " + grouped(head.step()));
  }
  const std::uint64_t needed = std::uint64_t{head.step()} * (head.height() - 1) + row;
  if (bytes < needed) {
    return corrupt("the buffer has " + grouped(bytes) + " bytes, but the head declares " +
                   grouped(needed));
  }
  return success();
}

Pixels with_size(std::uint64_t width, std::uint64_t height, PixelFormat format) {
  Pixels made;
  made.width = static_cast<int>(width);
  made.height = static_cast<int>(height);
  made.format = format;
  made.bytes.resize(width * height * (format == PixelFormat::gray8 ? 1 : 4));
  return made;
}

Pixels wide_image(const msgs::Image& head, const Buffer& data, const EncodingWide& encoding,
                  DepthRange range, ColorMap map) {
  const std::uint64_t width = head.width();
  const auto value = [&](std::uint64_t x, std::uint64_t y) {
    const double raw =
        encoding.read(data.data() + y * head.step() + x * encoding.bytes, head.is_bigendian());
    // A depth of 0 is no measurement.
    return encoding.unit > 0 && raw == 0 ? std::nan("")
                                         : raw * (encoding.unit > 0 ? encoding.unit : 1);
  };
  if (range.low == range.high) {
    range = {INFINITY, -INFINITY};
    for (std::uint64_t y = 0; y < head.height(); ++y) {
      for (std::uint64_t x = 0; x < width; ++x) {
        const double each = value(x, y);
        if (!std::isfinite(each)) continue;
        range.low = std::min(range.low, each);
        range.high = std::max(range.high, each);
      }
    }
    if (range.low > range.high) range = {0, 1};
  }
  std::array<Color, 256> table;
  const bool depth = encoding.unit > 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = map_color(depth ? map : ColorMap::gray, static_cast<double>(i) / 255);
  }
  Pixels made = with_size(width, head.height(), PixelFormat::rgba8);
  const double scale = range.high > range.low ? 255 / (range.high - range.low) : 0;
  for (std::uint64_t y = 0; y < head.height(); ++y) {
    for (std::uint64_t x = 0; x < width; ++x) {
      const double each = value(x, y);
      Color color{0, 0, 0, 255};
      if (std::isfinite(each)) {
        color = table[static_cast<std::size_t>(std::clamp((each - range.low) * scale, 0.0, 255.0))];
      }
      std::memcpy(made.bytes.data() + (y * width + x) * 4, &color, 4);
    }
  }
  char text[64];
  std::snprintf(text, sizeof(text), ", %.4g to %.4g%s", range.low, range.high, depth ? " m" : "");
  made.description = size_text(width, head.height()) + " " + std::string(encoding.name) + text;
  return made;
}

Result<Pixels> raw_image(const msgs::Image& head, const Buffer& data, DepthRange range,
                         ColorMap map) {
  const auto plain = std::ranges::find(kEncodings, head.encoding(), &Encoding8::name);
  const auto wide = std::ranges::find(kWide, head.encoding(), &EncodingWide::name);
  if (plain == kEncodings.end() && wide == kWide.end()) {
    std::vector<std::string> names;
    for (const Encoding8& each : kEncodings) names.emplace_back(each.name);
    for (const EncodingWide& each : kWide) names.emplace_back(each.name);
    return corrupt("unknown encoding '" + head.encoding().substr(0, 64) + "'" +
                   propose(head.encoding(), names));
  }
  const std::size_t pixel = plain != kEncodings.end() ? plain->bytes : wide->bytes;
  if (auto good = check_size(head, pixel, data.size()); !good) return good.error();
  if (plain == kEncodings.end()) return wide_image(head, data, *wide, range, map);
  if (pixel == 2 && head.width() % 2 != 0) {
    return corrupt("an image of pairs of pixels has an odd width");
  }
  Pixels made = with_size(head.width(), head.height(), plain->format);
  const std::size_t row = made.bytes.size() / head.height();
  for (std::size_t y = 0; y < head.height(); ++y) {
    plain->row(data.data() + y * head.step(), made.bytes.data() + y * row, head.width());
  }
  made.description = size_text(head.width(), head.height()) + " " + head.encoding();
  return made;
}

Result<Pixels> jpeg_image(std::span<const std::byte> data, std::uint64_t most) {
  const std::unique_ptr<void, int (*)(tjhandle)> decoder(tjInitDecompress(), &tjDestroy);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(data.data());
  int width = 0;
  int height = 0;
  int sampling = 0;
  int space = 0;
  if (decoder == nullptr || tjDecompressHeader3(decoder.get(), bytes, data.size(), &width, &height,
                                                &sampling, &space) != 0) {
    return corrupt("the JPEG image is damaged");
  }
  if (width <= 0 || height <= 0 ||
      static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) > most) {
    return corrupt("the JPEG image has an impossible size, the limit is " + grouped(most) +
                   " pixels");
  }
  Pixels made = with_size(static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height),
                          PixelFormat::rgba8);
  if (tjDecompress2(decoder.get(), bytes, data.size(),
                    reinterpret_cast<unsigned char*>(made.bytes.data()), width, 0, height,
                    TJPF_RGBA, TJFLAG_FASTDCT) != 0 &&
      tjGetErrorCode(decoder.get()) != TJERR_WARNING) {
    return corrupt("the JPEG image is damaged");
  }
  made.description =
      size_text(static_cast<std::uint64_t>(width), static_cast<std::uint64_t>(height)) + " jpeg";
  return made;
}

Result<Pixels> png_image_of(std::span<const std::byte> data, std::uint64_t most) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&image, data.data(), data.size()) == 0) {
    return corrupt("the PNG image is damaged");
  }
  if (std::uint64_t{image.width} * image.height > most) {
    png_image_free(&image);
    return corrupt("the PNG image has an impossible size, the limit is " + grouped(most) +
                   " pixels");
  }
  image.format = PNG_FORMAT_RGBA;
  Pixels made = with_size(image.width, image.height, PixelFormat::rgba8);
  if (png_image_finish_read(&image, nullptr, made.bytes.data(), 0, nullptr) == 0) {
    return corrupt("the PNG image is damaged");
  }
  made.description = size_text(image.width, image.height) + " png";
  return made;
}

}  // namespace

Result<Pixels> decode_file(std::span<const std::byte> data, std::string_view name,
                           std::uint64_t most) {
  const bool png = data.size() > 8 && std::memcmp(data.data(), "\x89PNG", 4) == 0;
  const bool jpeg = data.size() > 3 && std::memcmp(data.data(), "\xff\xd8\xff", 3) == 0;
  if (!png && !jpeg) {
    return corrupt("the compressed image '" + std::string(name.substr(0, 64)) +
                   "' is neither JPEG nor PNG");
  }
  return png ? png_image_of(data, most) : jpeg_image(data, most);
}

Result<Pixels> decode_image(std::string_view type, const Sample& sample, DepthRange range,
                            ColorMap map) {
  const Buffer none;
  const Buffer& data = sample.buffers.empty() ? none : sample.buffers[0];
  const auto finish = [](Result<Pixels> made, const msgs::Header& header) {
    if (made) {
      made->frame = frame_of(header);
      made->stamp = stamp_of(header);
    }
    return made;
  };
  if (type == "hyphos.msgs.Image") {
    msgs::Image head;
    if (!parse(sample, head)) return corrupt(not_a(type, sample));
    return finish(raw_image(head, data, range, map), head.header());
  }
  msgs::CompressedImage head;
  if (!parse(sample, head)) return corrupt(not_a(type, sample));
  if (data.empty()) return corrupt("the compressed image has no bytes");
  // `format` is free text in practice.
  return finish(decode_file(data.bytes(), head.format()), head.header());
}

}  // namespace hyphos::view
