#include "gateway/convert/base64.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "gateway/convert/base64_wide.hpp"

namespace hyphos::gateway {

namespace {

constexpr std::uint32_t kBad = 1U << 31U;
constexpr std::size_t kBlock = 6144;  // bytes that are encoded at once

// Two characters for each 12 bits, so that three bytes need two look-ups.
using Pairs = std::array<char, 2 * 4096>;
constexpr Pairs make_pairs() {
  Pairs pairs{};
  for (std::size_t i = 0; i < 4096; ++i) {
    pairs[2 * i] = kBase64Alphabet[i >> 6U];
    pairs[2 * i + 1] = kBase64Alphabet[i & 63U];
  }
  return pairs;
}
constexpr Pairs kPairs = make_pairs();

// The value of a character in each of its four positions.
using Worths = std::array<std::array<std::uint32_t, 256>, 4>;
constexpr Worths make_worths() {
  Worths worths{};
  for (auto& worth : worths) worth.fill(kBad);
  for (std::size_t place = 0; place < 4; ++place) {
    for (std::size_t i = 0; i < kBase64Alphabet.size(); ++i) {
      worths[place][static_cast<unsigned char>(kBase64Alphabet[i])] =
          static_cast<std::uint32_t>(i << (18 - 6 * place));
    }
  }
  return worths;
}
constexpr Worths kWorths = make_worths();

void encode_three(const std::byte* in, char* out) {
  const std::uint32_t word = std::to_integer<std::uint32_t>(in[0]) << 16U |
                             std::to_integer<std::uint32_t>(in[1]) << 8U |
                             std::to_integer<std::uint32_t>(in[2]);
  std::memcpy(out, &kPairs[2 * (word >> 12U)], 2);
  std::memcpy(out + 2, &kPairs[2 * (word & 0xfffU)], 2);
}

std::uint32_t decode_four(const char* in) {
  std::uint32_t word = 0;
  for (std::size_t place = 0; place < 4; ++place) {
    word |= kWorths[place][static_cast<unsigned char>(in[place])];
  }
  return word;
}

std::string_view without_padding(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  return text;
}

void put(std::uint32_t word, std::byte* out) {
  out[0] = static_cast<std::byte>(word >> 16U);
  out[1] = static_cast<std::byte>(word >> 8U);
  out[2] = static_cast<std::byte>(word);
}

}  // namespace

void Base64Writer::write(std::span<const std::byte> bytes) {
  while (count_ > 0 && count_ < 3 && !bytes.empty()) {
    kept_[count_++] = bytes[0];
    bytes = bytes.subspan(1);
  }
  if (count_ == 3) {
    char four[4];
    encode_three(kept_, four);
    out_.append(four, sizeof four);
    count_ = 0;
  }
  // Encodes through a block that stays in the cache. Resizing `out_` first would write it twice.
  out_.reserve(out_.size() + bytes.size() / 3 * 4 + 4);
  std::array<char, kBlock / 3 * 4> block;
  while (bytes.size() >= 3) {
    const auto piece = bytes.first(std::min(bytes.size() / 3 * 3, kBlock));
    for (std::size_t done = encode_wide(piece, block.data()); done < piece.size(); done += 3) {
      encode_three(piece.data() + done, block.data() + done / 3 * 4);
    }
    out_.append(block.data(), piece.size() / 3 * 4);
    bytes = bytes.subspan(piece.size());
  }
  std::copy(bytes.begin(), bytes.end(), kept_ + count_);
  count_ += bytes.size();
}

void Base64Writer::end() {
  if (count_ == 0) return;
  std::fill(kept_ + count_, kept_ + 3, std::byte{0});
  char last[4];
  encode_three(kept_, last);
  std::fill(last + count_ + 1, last + 4, '=');
  out_.append(last, 4);
  count_ = 0;
}

std::size_t base64_size(std::string_view text) {
  text = without_padding(text);
  const std::size_t rest = text.size() % 4;
  return text.size() / 4 * 3 + (rest == 0 ? 0 : rest - 1);
}

bool decode_base64(std::string_view text, std::byte* out) {
  text = without_padding(text);
  const std::size_t whole = text.size() / 4;
  std::uint32_t bad = 0;
  for (std::size_t i = decode_wide(text, out) / 4; i < whole; ++i) {
    const std::uint32_t word = decode_four(text.data() + 4 * i);
    bad |= word;
    put(word, out + 3 * i);
  }
  const std::size_t rest = text.size() % 4;
  if ((bad & kBad) != 0 || rest == 1) return false;
  if (rest == 0) return true;
  char last[4] = {'A', 'A', 'A', 'A'};
  std::memcpy(last, text.data() + 4 * whole, rest);
  const std::uint32_t word = decode_four(last);
  std::byte bytes[3];
  put(word, bytes);
  std::copy(bytes, bytes + rest - 1, out + 3 * whole);
  return (word & kBad) == 0;
}

}  // namespace hyphos::gateway
