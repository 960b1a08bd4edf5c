#include "gateway/rosbridge/png.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "gateway/convert/base64.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

constexpr std::size_t kPixel = 3;

void append_u32(std::string& out, std::size_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

void append_chunk(std::string& out, std::string_view type, std::string_view data) {
  append_u32(out, data.size());
  const std::size_t from = out.size();
  out += type;
  out += data;
  append_u32(out, crc32(0, reinterpret_cast<const Bytef*>(out.data() + from),
                        static_cast<uInt>(out.size() - from)));
}

std::string deflated(const std::string& plain) {
  uLongf size = compressBound(static_cast<uLong>(plain.size()));
  std::string out(size, '\0');
  // Level 1: on a local network, stronger compression takes longer than it saves.
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(plain.data()), static_cast<uLong>(plain.size()),
                1) != Z_OK) {
    throw std::bad_alloc();  // its only possible error, because the room and the level are valid
  }
  out.resize(size);
  return out;
}

}  // namespace

std::string png_message(std::string_view ascii_json) {
  const std::size_t pixels = std::max<std::size_t>((ascii_json.size() + kPixel - 1) / kPixel, 1);
  const auto width = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(pixels))));
  const std::size_t height = (pixels + width - 1) / width;
  const std::size_t row = width * kPixel;

  std::string rows;
  rows.reserve((row + 1) * height);
  for (std::size_t y = 0; y < height; ++y) {
    const std::string_view line = ascii_json.substr(std::min(y * row, ascii_json.size()), row);
    rows += '\0';  // no filter
    rows += line;
    rows.append(row - line.size(), '\n');
  }
  std::string header;
  append_u32(header, width);
  append_u32(header, height);
  header +=
      std::string_view("\x08\x02\x00\x00\x00", 5);  // 8 bits, RGB, deflate, filters, no interlace

  std::string file = "\x89PNG\r\n\x1a\n";
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", deflated(rows));
  append_chunk(file, "IEND", "");
  std::string out = R"({"op":"png","data":")";
  Base64Writer writer(out);
  writer.write(std::as_bytes(std::span(file)));
  writer.end();
  return out + R"("})";
}

}  // namespace hyphos::gateway::rosbridge
