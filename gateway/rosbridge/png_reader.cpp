// PNG (ISO/IEC 15948), as far as it carries JSON: eight bits, no palette, no interlacing.

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

#include "gateway/convert/base64.hpp"
#include "gateway/rosbridge/png.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
/// Maximum expansion of deflate per byte. An image that claims more is refused before memory is
/// allocated.
constexpr std::size_t kMostOfAByte = 1032;
constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // for zlib's counters

Error bad_png(std::string what) { return {Code::corrupt, "the PNG " + std::move(what), ""}; }

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::size_t u32(Bytes bytes) {
  std::size_t value = 0;
  for (const std::byte byte : bytes.first(4)) {
    value = value << 8U | std::to_integer<std::size_t>(byte);
  }
  return value;
}

struct Chunk {
  std::string_view type;
  Bytes data;
};

/// Removes the first chunk from `file`.
Result<Chunk> next_chunk(Bytes& file) {
  constexpr std::size_t kAround = 12;  // the length, the type and the checksum
  const std::size_t size = file.size() < kAround ? 0 : u32(file);
  if (file.size() < kAround || size > file.size() - kAround) return bad_png("ends too early");
  const Bytes checked = file.subspan(4, 4 + size);
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  if (sum != u32(file.subspan(8 + size))) return bad_png("has a wrong checksum");
  file = file.subspan(kAround + size);
  return Chunk{text_of(checked.first(4)), checked.subspan(4)};
}

struct Header {
  std::size_t row = 0;  // bytes
  std::size_t height = 0;
  std::size_t pixel = 0;  // bytes: 1 gray, 3 RGB, 4 RGBA
};

Result<Header> read_header(const Chunk& chunk, std::size_t limit) {
  if (chunk.type != "IHDR" || chunk.data.size() != 13) return bad_png("has no header");
  const std::size_t width = u32(chunk.data);
  Header header;
  header.height = u32(chunk.data.subspan(4));
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(chunk.data[i]); };
  header.pixel = at(9) == 0 ? 1 : at(9) == 2 ? 3 : at(9) == 6 ? 4 : 0;
  if (at(8) != 8 || header.pixel == 0 || at(10) != 0 || at(11) != 0 || at(12) != 0) {
    return Error{Code::unsupported,
                 "the PNG must have 8 bits, gray, RGB or RGBA, and no interlacing", ""};
  }
  if (width == 0 || header.height == 0) return bad_png("has no pixels");
  if (width > limit / header.pixel || header.height > limit / (width * header.pixel)) {
    return Error{Code::exhausted,
                 "the pixels of the PNG exceed the " + std::to_string(limit) +
                     " bytes that --max-message allows",
                 ""};
  }
  header.row = width * header.pixel;
  return header;
}

std::uint8_t paeth(int left, int up, int before) {
  const int guess = left + up - before;
  const int to_left = std::abs(guess - left);
  const int to_up = std::abs(guess - up);
  const int to_before = std::abs(guess - before);
  if (to_left <= to_up && to_left <= to_before) return static_cast<std::uint8_t>(left);
  return static_cast<std::uint8_t>(to_up <= to_before ? up : before);
}

/// Pixels that are inflated directly into their place.
class Pixels {
 public:
  explicit Pixels(const Header& header)
      : header_(header), bytes_(header.row * header.height, '\0') {
    if (inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
  }
  ~Pixels() { inflateEnd(&stream_); }
  Pixels(const Pixels&) = delete;
  Pixels& operator=(const Pixels&) = delete;

  Result<void> take(Bytes data) {
    // zlib does not write there, although its type is not const.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(data.data()));
    stream_.avail_in = static_cast<uInt>(data.size());
    // Each round makes progress, or it is the last: no input is left, or none is consumed.
    for (;;) {
      if (ended_ && stream_.avail_in > 0) return bad_png("has data after its pixels");
      if (ended_) return success();
      // Each row begins with its filter byte. After the last row no byte may follow, which is
      // checked by asking for one.
      const bool in_row = at_ % (header_.row + 1) != 0;
      const std::size_t row = at_ / (header_.row + 1);
      const std::size_t filled = in_row ? at_ % (header_.row + 1) - 1 : 0;
      const std::size_t room = in_row ? std::min(header_.row - filled, kMostAtOnce) : 1;
      stream_.next_out = in_row ? pixel(row, filled) : &filter_;
      stream_.avail_out = static_cast<uInt>(room);
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_MEM_ERROR) throw std::bad_alloc();
      if (code == Z_BUF_ERROR) return success();
      if (code != Z_OK && code != Z_STREAM_END) return bad_png("has pixels that do not inflate");
      ended_ = code == Z_STREAM_END;
      const std::size_t made = room - stream_.avail_out;
      if (made > 0 && row == header_.height)
        return bad_png("has more pixels than its size declares");
      at_ += made;
      if (in_row && filled + made == header_.row && !unfilter(row))
        return bad_png("has an unknown filter");
      if (!ended_ && stream_.avail_in == 0 && stream_.avail_out > 0) return success();
    }
  }

  /// The bytes without alpha. Errors: corrupt (some are missing).
  Result<std::string> finish() && {
    if (!ended_ || at_ != (header_.row + 1) * header_.height) return bad_png("has too few pixels");
    if (header_.pixel == 4) {
      std::size_t to = 0;
      for (std::size_t from = 0; from < bytes_.size(); ++from) {
        if (from % 4 != 3) bytes_[to++] = bytes_[from];
      }
      bytes_.resize(to);
    }
    return std::move(bytes_);
  }

 private:
  std::uint8_t* pixel(std::size_t row, std::size_t byte) {
    return reinterpret_cast<std::uint8_t*>(bytes_.data()) + row * header_.row + byte;
  }
  /// Bytes left of a row and above the first row count as zero.
  bool unfilter(std::size_t row) {
    std::uint8_t* const bytes = pixel(row, 0);
    const std::size_t step = header_.pixel;
    const auto left = [&](std::size_t i) { return i < step ? 0 : bytes[i - step]; };
    const auto up = [&](std::size_t i) { return row == 0 ? 0 : *(bytes + i - header_.row); };
    const auto before = [&](std::size_t i) { return i < step ? 0 : up(i - step); };
    const auto add = [&](auto guess) {
      for (std::size_t i = 0; i < header_.row; ++i) {
        bytes[i] = static_cast<std::uint8_t>(bytes[i] + guess(i));
      }
      return true;
    };
    switch (filter_) {
      case 0:
        return true;
      case 1:
        return add(left);
      case 2:
        return add(up);
      case 3:
        return add([&](std::size_t i) { return (left(i) + up(i)) / 2; });
      case 4:
        return add([&](std::size_t i) { return paeth(left(i), up(i), before(i)); });
      default:
        return false;
    }
  }

  const Header header_;
  std::string bytes_;
  std::size_t at_ = 0;  // position in the inflated data, including the filter bytes
  std::uint8_t filter_ = 0;
  bool ended_ = false;
  z_stream stream_{};
};

Result<std::string> pixels_of(Bytes file, std::size_t limit) {
  if (!text_of(file).starts_with(kSignature))
    return bad_png("does not begin with the PNG signature");
  const std::size_t most = file.size() * kMostOfAByte;
  file = file.subspan(kSignature.size());
  const auto first = next_chunk(file);
  if (!first) return first.error();
  const auto header = read_header(*first, limit);
  if (!header) return header.error();
  if ((header->row + 1) * header->height > most) return bad_png("has too few pixels");
  Pixels pixels(*header);
  for (;;) {
    const auto chunk = next_chunk(file);
    if (!chunk) return chunk.error();
    if (chunk->type == "IEND") return std::move(pixels).finish();
    // other chunks do not change the bytes of gray, RGB and RGBA pixels
    if (chunk->type != "IDAT") continue;
    if (auto taken = pixels.take(chunk->data); !taken) return taken.error();
  }
}

}  // namespace

Result<std::string> json_of_png(std::string_view base64, std::size_t limit) {
  std::vector<std::byte> file(base64_size(base64));
  if (!decode_base64(base64, file.data())) {
    return Error{Code::corrupt, "'data' must be a PNG in base64", ""};
  }
  auto json = pixels_of(file, limit);
  if (json) json->erase(json->find_last_not_of(" \t\r\n") + 1);
  return json;
}

}  // namespace hyphos::gateway::rosbridge
