#pragma once

#include <zlib.h>

#include <cstddef>
#include <string>

/// Builds parts of PNG files according to the standard, independently of the encoder of the
/// gateway.
namespace hyphos::gateway::rosbridge {

inline std::string u32(std::size_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

inline std::string chunk(const std::string& type, const std::string& data) {
  const std::string checked = type + data;
  return u32(data.size()) + checked +
         u32(crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                   static_cast<uInt>(checked.size())));
}

/// Returns an empty string on failure, which is not a valid zlib stream.
inline std::string deflated(const std::string& plain) {
  uLongf size = compressBound(plain.size());
  std::string out(size, '\0');
  const bool done =
      compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(plain.data()), plain.size(), 1) == Z_OK;
  out.resize(done ? size : 0);
  return out;
}

}  // namespace hyphos::gateway::rosbridge
