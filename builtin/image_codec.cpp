#include "builtin/image_codec.hpp"

#include <png.h>
#include <turbojpeg.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace hyphos::builtin {
namespace {

constexpr int kNoJpeg = -1;

struct Layout {
  std::string_view encoding;
  std::uint32_t pixel_bytes;
  int jpeg;         // TJPF_*
  png_uint_32 png;  // PNG_FORMAT_*
};
constexpr Layout kLayouts[] = {
    {"mono8", 1, TJPF_GRAY, PNG_FORMAT_GRAY},   {"8UC1", 1, TJPF_GRAY, PNG_FORMAT_GRAY},
    {"rgb8", 3, TJPF_RGB, PNG_FORMAT_RGB},      {"bgr8", 3, TJPF_BGR, PNG_FORMAT_BGR},
    {"8UC3", 3, TJPF_BGR, PNG_FORMAT_BGR},      {"rgba8", 4, TJPF_RGBA, PNG_FORMAT_RGBA},
    {"bgra8", 4, TJPF_BGRA, PNG_FORMAT_BGRA},   {"mono16", 2, kNoJpeg, PNG_FORMAT_LINEAR_Y},
    {"16UC1", 2, kNoJpeg, PNG_FORMAT_LINEAR_Y},
};

const Layout* layout_of(std::string_view encoding) {
  const auto* const found = std::ranges::find(kLayouts, encoding, &Layout::encoding);
  return found == std::end(kLayouts) ? nullptr : found;
}

std::uint32_t step_of(const msgs::Image& head, const Layout& layout) {
  return head.step() != 0 ? head.step() : head.width() * layout.pixel_bytes;
}

struct CloseJpeg {
  void operator()(void* handle) const { tjDestroy(handle); }
};
using Jpeg = std::unique_ptr<void, CloseJpeg>;

Error jpeg_error(Code code, tjhandle handle) { return Error{code, tjGetErrorStr2(handle), "JPEG"}; }

// The simplified interface of libpng. Its memory is freed in every case.
class Png {
 public:
  Png() { image_.version = PNG_IMAGE_VERSION; }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;
  ~Png() { png_image_free(&image_); }
  png_image* get() { return &image_; }
  png_image* operator->() { return &image_; }
  [[nodiscard]] Error error(Code code) const { return Error{code, image_.message, "PNG"}; }

 private:
  png_image image_{};
};

bool is_png(std::span<const std::byte> file) {
  return file.size() >= 8 && png_sig_cmp(reinterpret_cast<png_const_bytep>(file.data()), 0, 8) == 0;
}

bool is_jpeg(std::span<const std::byte> file) {
  return file.size() >= 3 && file[0] == std::byte{0xff} && file[1] == std::byte{0xd8} &&
         file[2] == std::byte{0xff};
}

Result<msgs::Image> make_head(std::uint32_t width, std::uint32_t height,
                              std::string_view encoding) {
  const std::uint64_t step = std::uint64_t{width} * layout_of(encoding)->pixel_bytes;
  if (step * height > kMaxImageBytes) {
    return Error{Code::exhausted,
                 "the image of " + std::to_string(width) + " x " + std::to_string(height) +
                     " pixels is larger than " + std::to_string(kMaxImageBytes >> 20) + " MiB",
                 ""};
  }
  msgs::Image head;
  head.set_width(width);
  head.set_height(height);
  head.set_step(static_cast<std::uint32_t>(step));
  head.set_encoding(std::string(encoding));
  head.set_is_bigendian(std::endian::native == std::endian::big);
  return head;
}

const unsigned char* raw(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

Result<msgs::Image> probe_png(std::span<const std::byte> file) {
  Png png;
  if (png_image_begin_read_from_memory(png.get(), file.data(), file.size()) == 0) {
    return png.error(Code::corrupt);
  }
  const png_uint_32 format = png->format;
  const bool colour = (format & PNG_FORMAT_FLAG_COLOR) != 0;
  const bool alpha = (format & PNG_FORMAT_FLAG_ALPHA) != 0;
  const bool deep = (format & PNG_FORMAT_FLAG_LINEAR) != 0;
  return make_head(png->width, png->height,
                   alpha    ? "rgba8"
                   : colour ? "rgb8"
                   : deep   ? "mono16"
                            : "mono8");
}

Result<msgs::Image> probe_jpeg(std::span<const std::byte> file) {
  const Jpeg jpeg(tjInitDecompress());
  int width = 0, height = 0, sampling = 0, space = 0;
  if (tjDecompressHeader3(jpeg.get(), raw(file), file.size(), &width, &height, &sampling, &space) !=
      0) {
    return jpeg_error(Code::corrupt, jpeg.get());
  }
  return make_head(static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height),
                   space == TJCS_GRAY ? "mono8" : "rgb8");
}

}  // namespace

std::string unusable(const msgs::Image& head, std::span<const std::byte> pixels) {
  const Layout* layout = layout_of(head.encoding());
  if (layout == nullptr) {
    return "the encoding '" + head.encoding() +
           "' cannot be compressed. Use mono8, rgb8, bgr8, rgba8, bgra8, mono16 or 16UC1";
  }
  if (head.width() == 0 || head.height() == 0) return "the image has no pixels";
  const std::uint64_t row = std::uint64_t{head.width()} * layout->pixel_bytes;
  const std::uint64_t step = head.step() != 0 ? head.step() : row;
  if (step < row) {
    return "the step " + std::to_string(step) + " is less than a row of " + std::to_string(row) +
           " bytes";
  }
  if (pixels.size() < step * head.height()) {
    return "the buffer has " + std::to_string(pixels.size()) + " bytes, the head declares " +
           std::to_string(step * head.height());
  }
  if (step * head.height() > kMaxImageBytes || step > INT32_MAX) return "the image is too large";
  if (layout->pixel_bytes == 2 &&
      (step % 2 != 0 || head.is_bigendian() != (std::endian::native == std::endian::big))) {
    return "16-bit pixels need the byte order of this machine and an even step";
  }
  return "";
}

Result<Bytes> encode_jpeg(const msgs::Image& head, std::span<const std::byte> pixels, int quality) {
  const Layout* layout = layout_of(head.encoding());
  if (layout == nullptr || layout->jpeg == kNoJpeg) {
    return Error{Code::unsupported,
                 "JPEG has no encoding '" + head.encoding() + "'. Use the format png", "JPEG"};
  }
  const Jpeg jpeg(tjInitCompress());
  const bool grey = layout->jpeg == TJPF_GRAY;
  const auto width = static_cast<int>(head.width());
  const auto height = static_cast<int>(head.height());
  const int sampling = grey ? TJSAMP_GRAY : TJSAMP_420;
  Bytes file(tjBufSize(width, height, sampling));
  auto* out = reinterpret_cast<unsigned char*>(file.data());
  unsigned long size = file.size();
  if (tjCompress2(jpeg.get(), raw(pixels), width, static_cast<int>(step_of(head, *layout)), height,
                  layout->jpeg, &out, &size, sampling, quality,
                  TJFLAG_NOREALLOC | TJFLAG_FASTDCT) != 0) {
    return jpeg_error(Code::unsupported, jpeg.get());
  }
  file.resize(size);
  return file;
}

Result<Bytes> encode_png(const msgs::Image& head, std::span<const std::byte> pixels) {
  const Layout* layout = layout_of(head.encoding());
  if (layout == nullptr) return Error{Code::unsupported, unusable(head, pixels), "PNG"};
  Png png;
  png->width = head.width();
  png->height = head.height();
  png->format = layout->png;
  png->flags = PNG_IMAGE_FLAG_FAST;
  // In pixel components, not in bytes.
  const auto stride =
      static_cast<png_int_32>(step_of(head, *layout) / (layout->pixel_bytes == 2 ? 2 : 1));
  Bytes file(PNG_IMAGE_PNG_SIZE_MAX(*png.get()));
  png_alloc_size_t size = file.size();
  if (png_image_write_to_memory(png.get(), file.data(), &size, 0, pixels.data(), stride, nullptr) ==
      0) {
    return png.error(Code::unsupported);
  }
  file.resize(size);
  return file;
}

Result<msgs::Image> probe(std::span<const std::byte> file) {
  if (is_png(file)) return probe_png(file);
  if (is_jpeg(file)) return probe_jpeg(file);
  return Error{Code::unsupported, "neither a JPEG nor a PNG file", ""};
}

Result<void> decode(std::span<const std::byte> file, const msgs::Image& head,
                    std::span<std::byte> out) {
  const Layout* layout = layout_of(head.encoding());
  if (layout == nullptr || out.size() < std::size_t{head.step()} * head.height()) {
    return Error{Code::invalid_config, "the memory is smaller than the image", ""};
  }
  if (is_png(file)) {
    Png png;
    if (png_image_begin_read_from_memory(png.get(), file.data(), file.size()) == 0) {
      return png.error(Code::corrupt);
    }
    png->format = layout->png;
    const auto stride = static_cast<png_int_32>(head.step() / (layout->pixel_bytes == 2 ? 2 : 1));
    if (png_image_finish_read(png.get(), nullptr, out.data(), stride, nullptr) == 0) {
      return png.error(Code::corrupt);
    }
    return success();
  }
  const Jpeg jpeg(tjInitDecompress());
  if (tjDecompress2(jpeg.get(), raw(file), file.size(),
                    reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(head.width()),
                    static_cast<int>(head.step()), static_cast<int>(head.height()), layout->jpeg,
                    0) != 0) {
    // A warning (a truncated file) leaves an image whose rest is grey.
    return jpeg_error(Code::corrupt, jpeg.get());
  }
  return success();
}

}  // namespace hyphos::builtin
