// After W. Muła and D. Lemire, "Faster Base64 Encoding and Decoding Using AVX2 Instructions", ACM
// Transactions on the Web 12 (2018), and, for AVX-512, "Base64 encoding and decoding at almost the
// speed of a memory copy", Software: Practice and Experience 50 (2020).

#include "gateway/convert/base64_wide.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include <array>
#endif

namespace hyphos::gateway {

#if defined(__x86_64__)
namespace {

#define HYPHOS_AVX2 __attribute__((target("avx2")))

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

/// The same 16 bytes in both halves: shuffles look up each half separately.
HYPHOS_AVX2 __m256i twice(__m128i half) { return _mm256_broadcastsi128_si256(half); }

/// 24 bytes as 32 six-bit numbers. Reads 28 bytes.
HYPHOS_AVX2 __m256i to_six_bits(const std::byte* in) {
  const auto* low = reinterpret_cast<const __m128i*>(in);
  const auto* high = reinterpret_cast<const __m128i*>(in + 12);
  const __m256i bytes = _mm256_set_m128i(_mm_loadu_si128(high), _mm_loadu_si128(low));
  // Each three bytes a b c become the four bytes b a c b: two words that contain all six-bit
  // numbers whole.
  const __m256i spread = _mm256_shuffle_epi8(
      bytes, twice(_mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10)));
  const __m256i first_third = _mm256_mulhi_epu16(
      _mm256_and_si256(spread, _mm256_set1_epi32(0x0fc0fc00)), _mm256_set1_epi32(0x04000040));
  const __m256i second_fourth = _mm256_mullo_epi16(
      _mm256_and_si256(spread, _mm256_set1_epi32(0x003f03f0)), _mm256_set1_epi32(0x01000010));
  return _mm256_or_si256(first_third, second_fourth);
}

HYPHOS_AVX2 __m256i to_letters(__m256i numbers) {
  // Selects one of the alphabet's five runs: 13 A–Z, 0 a–z, 1–10 the digits, 11 '+', 12 '/'.
  const __m256i after_small = _mm256_subs_epu8(numbers, _mm256_set1_epi8(51));
  const __m256i capital = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), numbers);
  const __m256i run = _mm256_or_si256(after_small, _mm256_and_si256(capital, _mm256_set1_epi8(13)));
  constexpr char kDigit = '0' - 52;
  const __m256i shift = _mm256_shuffle_epi8(
      twice(_mm_setr_epi8('a' - 26, kDigit, kDigit, kDigit, kDigit, kDigit, kDigit, kDigit, kDigit,
                          kDigit, kDigit, '+' - 62, '/' - 63, 'A', 0, 0)),
      run);
  return _mm256_add_epi8(numbers, shift);
}

HYPHOS_AVX2 std::size_t encode_avx2(std::span<const std::byte> bytes, char* out) {
  std::size_t done = 0;
  for (; bytes.size() - done >= 28; done += 24, out += 32) {
    const __m256i letters = to_letters(to_six_bits(bytes.data() + done));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), letters);
  }
  return done;
}

/// 32 characters as six-bit numbers. Returns false if a character is not in the alphabet.
HYPHOS_AVX2 bool from_letters(__m256i letters, __m256i& numbers) {
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  const __m256i high = _mm256_and_si256(_mm256_srli_epi32(letters, 4), nibble);
  const __m256i low = _mm256_and_si256(letters, nibble);
  // One bit per group of high nibbles that share their valid low nibbles. A set bit means invalid.
  const __m256i low_bad =
      _mm256_shuffle_epi8(twice(_mm_setr_epi8(0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
                                              0x11, 0x13, 0x1a, 0x1b, 0x1b, 0x1b, 0x1a)),
                          low);
  const __m256i high_group =
      _mm256_shuffle_epi8(twice(_mm_setr_epi8(0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10,
                                              0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10)),
                          high);
  if (_mm256_testz_si256(low_bad, high_group) == 0) return false;
  // The value to add, by the high nibble. '/' shares the nibble of '+', so it is moved to the entry
  // before it.
  const __m256i slash = _mm256_cmpeq_epi8(letters, _mm256_set1_epi8('/'));
  const __m256i shift =
      _mm256_shuffle_epi8(twice(_mm_setr_epi8(0, 63 - '/', 62 - '+', 52 - '0', 0 - 'A', 0 - 'A',
                                              26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0)),
                          _mm256_add_epi8(high, slash));
  numbers = _mm256_add_epi8(letters, shift);
  return true;
}

/// 32 six-bit numbers as 24 bytes.
HYPHOS_AVX2 void from_six_bits(__m256i numbers, std::byte* out) {
  const __m256i twelve = _mm256_maddubs_epi16(numbers, _mm256_set1_epi32(0x01400140));
  const __m256i whole = _mm256_madd_epi16(twelve, _mm256_set1_epi32(0x00011000));
  const __m256i ordered = _mm256_shuffle_epi8(
      whole, twice(_mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1)));
  const __m256i packed =
      _mm256_permutevar8x32_epi32(ordered, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(packed));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(packed, 1));
}

HYPHOS_AVX2 std::size_t decode_avx2(std::string_view text, std::byte* out) {
  std::size_t done = 0;
  for (; text.size() - done >= 32; done += 32, out += 24) {
    const auto* from = reinterpret_cast<const __m256i*>(text.data() + done);
    __m256i numbers;
    if (!from_letters(_mm256_loadu_si256(from), numbers)) break;
    from_six_bits(numbers, out);
  }
  return done;
}

#undef HYPHOS_AVX2
#define HYPHOS_VBMI __attribute__((target("avx512f,avx512bw,avx512vbmi")))

bool has_vbmi() {
  static const bool has =
      __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512bw") != 0;
  return has;
}

using Table = std::array<std::uint8_t, 64>;
constexpr std::uint8_t kNone = 0x80;

struct Tables {
  Table letters{};        // for each number
  Table numbers[2]{};     // for each character below 128
  Table three_as_four{};  // source positions of the four bytes b a c b for three bytes a b c
  Table four_as_three{};  // positions of the three valid bytes of each four
};
constexpr Tables make_tables() {
  Tables made;
  for (Table& half : made.numbers) half.fill(kNone);
  for (std::size_t number = 0; number < kBase64Alphabet.size(); ++number) {
    const auto letter = static_cast<std::uint8_t>(kBase64Alphabet[number]);
    made.letters[number] = letter;
    made.numbers[letter / 64][letter % 64] = static_cast<std::uint8_t>(number);
  }
  for (std::size_t group = 0; group < 16; ++group) {
    constexpr std::size_t kFour[] = {1, 0, 2, 1};
    constexpr std::size_t kThree[] = {2, 1, 0};
    for (std::size_t i = 0; i < 4; ++i) {
      made.three_as_four[4 * group + i] = static_cast<std::uint8_t>(3 * group + kFour[i]);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      made.four_as_three[3 * group + i] = static_cast<std::uint8_t>(4 * group + kThree[i]);
    }
  }
  return made;
}
constexpr Tables kTables = make_tables();

HYPHOS_VBMI __m512i load(const void* from) { return _mm512_loadu_si512(from); }

HYPHOS_VBMI std::size_t encode_vbmi(std::span<const std::byte> bytes, char* out) {
  const __m512i three_as_four = load(kTables.three_as_four.data());
  const __m512i letters = load(kTables.letters.data());
  // For each eight bytes b a c b, b a c b: the bit positions at which the numbers begin.
  const __m512i begins = _mm512_set1_epi64(0x3036242a1016040a);
  std::size_t done = 0;
  for (; bytes.size() - done >= 64; done += 48, out += 64) {
    const __m512i spread = _mm512_permutexvar_epi8(three_as_four, load(bytes.data() + done));
    const __m512i numbers = _mm512_multishift_epi64_epi8(begins, spread);
    _mm512_storeu_si512(out, _mm512_permutexvar_epi8(numbers, letters));
  }
  return done;
}

HYPHOS_VBMI std::size_t decode_vbmi(std::string_view text, std::byte* out) {
  const __m512i low = load(kTables.numbers[0].data());
  const __m512i high = load(kTables.numbers[1].data());
  const __m512i four_as_three = load(kTables.four_as_three.data());
  std::size_t done = 0;
  for (; text.size() - done >= 64; done += 64, out += 48) {
    const __m512i letters = load(text.data() + done);
    const __m512i numbers = _mm512_permutex2var_epi8(low, letters, high);
    if (_mm512_movepi8_mask(_mm512_or_si512(numbers, letters)) != 0) break;
    const __m512i twelve = _mm512_maddubs_epi16(numbers, _mm512_set1_epi32(0x01400140));
    const __m512i whole = _mm512_madd_epi16(twelve, _mm512_set1_epi32(0x00011000));
    const __m512i packed = _mm512_permutexvar_epi8(four_as_three, whole);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_castsi512_si256(packed));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 32), _mm512_extracti32x4_epi32(packed, 2));
  }
  return done;
}

#undef HYPHOS_VBMI

}  // namespace

// Narrower instructions process the rest that the widest leave.
std::size_t encode_wide(std::span<const std::byte> bytes, char* out) {
  const std::size_t done = has_vbmi() ? encode_vbmi(bytes, out) : 0;
  return has_avx2() ? done + encode_avx2(bytes.subspan(done), out + done / 3 * 4) : done;
}
std::size_t decode_wide(std::string_view text, std::byte* out) {
  const std::size_t done = has_vbmi() ? decode_vbmi(text, out) : 0;
  return has_avx2() ? done + decode_avx2(text.substr(done), out + done / 4 * 3) : done;
}

#else

std::size_t encode_wide(std::span<const std::byte>, char*) { return 0; }
std::size_t decode_wide(std::string_view, std::byte*) { return 0; }

#endif

}  // namespace hyphos::gateway
