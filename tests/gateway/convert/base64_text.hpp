#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

namespace hyphos::gateway {

/// Encodes bit by bit, as RFC 4648 defines it, with padding.
inline std::string base64_of(std::string_view bytes) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 6) {
    std::size_t number = 0;
    for (std::size_t i = bit; i < bit + 6; ++i) {
      const bool set = i / 8 < bytes.size() &&
                       (static_cast<unsigned char>(bytes[i / 8]) >> (7 - i % 8) & 1U) != 0;
      number = 2 * number + (set ? 1 : 0);
    }
    text += kAlphabet[number];
  }
  while (text.size() % 4 != 0) text += '=';
  return text;
}

inline std::string random_bytes(std::mt19937& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

}  // namespace hyphos::gateway
