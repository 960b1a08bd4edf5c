#include "gateway/rosbridge/cbor.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "gateway/convert/base64.hpp"
#include "gateway/convert/cbor_head.hpp"
#include "gateway/convert/json_sink.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

using Bytes = std::span<const std::byte>;

constexpr int kMaxCborDepth = 64;
constexpr std::uint64_t kSelfDescribed = 55799;

struct Head {
  unsigned major = 0;
  unsigned info = 0;
  std::uint64_t value = 0;
  [[nodiscard]] bool indefinite() const { return info == 31; }
};

double from_half(std::uint16_t half) {
  const int exponent = half >> 10 & 0x1f;
  const double mantissa = half & 0x3ff;
  double value = 0;
  if (exponent == 0) {
    value = std::ldexp(mantissa, -24);
  } else if (exponent != 31) {
    value = std::ldexp(mantissa + 1024, exponent - 25);
  } else {
    value = mantissa == 0 ? INFINITY : NAN;
  }
  return (half & 0x8000) != 0 ? -value : value;
}

/// Throws Error, which cbor_to_json() catches. Any other way out of such a deep recursion would be
/// hard to read.
class Converter {
 public:
  Converter(Bytes bytes, std::size_t limit) : bytes_(bytes), limit_(limit) {}

  std::string convert() {
    value(0);
    if (at_ != bytes_.size()) fail("more bytes follow after the map");
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, Code code = Code::corrupt) const {
    throw Error{code, "invalid CBOR at byte " + std::to_string(at_) + ": " + what, ""};
  }

  void check_length() const {
    if (out_.size() > limit_) fail("the JSON form is too long", Code::exhausted);
  }

  Bytes take(std::uint64_t size) {
    if (size > bytes_.size() - at_) fail("the data ends too early");
    const Bytes part = bytes_.subspan(at_, static_cast<std::size_t>(size));
    at_ += part.size();
    return part;
  }

  Head head() {
    const auto first = std::to_integer<unsigned>(take(1)[0]);
    Head head{first >> 5, first & 0x1fU, first & 0x1fU};
    if (head.info >= 24 && head.info <= 27) {
      head.value = 0;
      for (const std::byte byte : take(std::uint64_t{1} << (head.info - 24))) {
        head.value = head.value << 8 | std::to_integer<std::uint64_t>(byte);
      }
    } else if (head.info >= 28 && head.info != 31) {
      fail("the length is reserved");
    } else if (head.indefinite() && (head.major <= kCborNegative || head.major == kCborTag)) {
      fail("a number or tag has no definite length");
    }
    return head;
  }

  bool at_break() {
    if (at_ >= bytes_.size()) fail("the data ends too early");
    if (bytes_[at_] != std::byte{0xff}) return false;
    ++at_;
    return true;
  }

  template <typename Item>
  void items(const Head& head, char open, char close, Item item) {
    out_ += open;
    for (std::uint64_t i = 0; head.indefinite() ? !at_break() : i < head.value; ++i) {
      if (i > 0) out_ += ',';
      item();
      check_length();
    }
    out_ += close;
  }

  /// A string. Its pieces are joined, if it has several.
  std::string string(const Head& head) {
    std::string text;
    const auto add = [&](std::uint64_t size) {
      const Bytes part = take(size);
      text.append(reinterpret_cast<const char*>(part.data()), part.size());
    };
    if (!head.indefinite()) {
      add(head.value);
      return text;
    }
    while (!at_break()) {
      const Head piece = this->head();
      if (piece.major != head.major || piece.indefinite())
        fail("a string has pieces of another type");
      add(piece.value);
    }
    return text;
  }

  void base64(Bytes bytes) {
    if (bytes.size() / 3 * 4 > limit_) fail("the JSON form is too long", Code::exhausted);
    out_ += '"';
    Base64Writer writer(out_);
    writer.write(bytes);
    writer.end();
    out_ += '"';
  }

  void value(int depth) {
    if (depth > kMaxCborDepth) fail("values are nested deeper than 64", Code::exhausted);
    const Head head = this->head();
    switch (head.major) {
      case kCborUnsigned:
        out_ += std::to_string(head.value);
        break;
      case kCborNegative:
        negative(head.value);
        break;
      case kCborBytes: {
        const std::string text = string(head);
        base64(std::as_bytes(std::span(text)));
        break;
      }
      case kCborText:
        append_json_text(string(head), out_);
        break;
      case kCborArray:
        items(head, '[', ']', [&] { value(depth + 1); });
        break;
      case kCborMap:
        items(head, '{', '}', [&] { member(depth); });
        break;
      case kCborTag:
        tagged(head.value, depth);
        break;
      default:
        simple(head);
        break;
    }
    check_length();
  }

  void member(int depth) {
    const Head key = head();
    if (key.major != kCborText) fail("a key is not a text string");
    append_json_text(string(key), out_);
    out_ += ':';
    value(depth + 1);
  }

  void negative(std::uint64_t value) {
    // -1 - 2^64 + 1 does not fit in int64, nor in any ROS field.
    if (value >= std::uint64_t{1} << 63) fail("a number is below the range of int64");
    out_ += std::to_string(-1 - static_cast<std::int64_t>(value));
  }

  void number(double value) {
    if (std::isnan(value)) {
      out_ += R"("NaN")";
    } else if (std::isinf(value)) {
      out_ += value < 0 ? R"("-Infinity")" : R"("Infinity")";
    } else {
      append_number(value);
    }
  }

  template <typename T>
  void append_number(T value) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    out_.append(text.data(), end);
    if constexpr (std::is_floating_point_v<T>) {
      // The parser accepts only integers of 64 bits, and 7.4e20 is written without an exponent
      // here.
      const std::string_view written(text.data(), end);
      if (written.size() >= 19 && written.find_first_of(".e") == written.npos) out_ += ".0";
    }
  }

  void simple(const Head& head) {
    switch (head.info) {
      case 20:
        out_ += "false";
        break;
      case 21:
        out_ += "true";
        break;
      case 22:
      case 23:
        out_ += "null";
        break;
      case 25:
        number(from_half(static_cast<std::uint16_t>(head.value)));
        break;
      case 26: {
        const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(head.value));
        std::isfinite(single) ? append_number(single) : number(single);
        break;
      }
      case 27:
        number(std::bit_cast<double>(head.value));
        break;
      default:
        fail("a simple value does not exist in JSON");
    }
  }

  void tagged(std::uint64_t tag, int depth) {
    if (tag < 64 || tag > 87) return value(depth + 1);
    const Head head = this->head();
    if (head.major != kCborBytes) fail("a typed array is not a byte string");
    const std::string text = string(head);
    const Bytes bytes = std::as_bytes(std::span(text));
    if (tag == 64 || tag == 68) return base64(bytes);
    typed_array(static_cast<unsigned>(tag), bytes);
  }

  // RFC 8746: the tag is 0b010'f's'e'll: float, signed, little endian, the exponent of the length.
  void typed_array(unsigned tag, Bytes bytes) {
    const bool is_float = (tag & 16U) != 0;
    const bool is_signed = (tag & 8U) != 0;
    const bool little = (tag & 4U) != 0;
    const std::size_t length = std::size_t{1} << ((tag & 3U) + (is_float ? 1 : 0));
    if (length > 8 || tag == 76) fail("a typed array has an element type that ROS does not have");
    if (bytes.size() % length != 0) fail("a typed array ends inside an element");
    out_ += '[';
    for (std::size_t at = 0; at < bytes.size(); at += length) {
      if (at > 0) out_ += ',';
      std::uint64_t word = 0;
      for (std::size_t i = 0; i < length; ++i) {
        const std::size_t from = little ? length - 1 - i : i;
        word = word << 8 | std::to_integer<std::uint64_t>(bytes[at + from]);
      }
      is_float ? float_element(word, length) : whole_element(word, length, is_signed);
      check_length();
    }
    out_ += ']';
  }

  void float_element(std::uint64_t word, std::size_t length) {
    if (length == 2) return number(from_half(static_cast<std::uint16_t>(word)));
    if (length == 8) return number(std::bit_cast<double>(word));
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(word));
    std::isfinite(single) ? append_number(single) : number(single);
  }

  void whole_element(std::uint64_t word, std::size_t length, bool is_signed) {
    if (!is_signed) return append_number(word);
    const auto unused = static_cast<unsigned>(64 - 8 * length);
    append_number(static_cast<std::int64_t>(word << unused) >> unused);
  }

  Bytes bytes_;
  std::size_t at_ = 0;
  std::string out_;
  const std::size_t limit_;
};

void append_text(std::string& out, std::string_view text) {
  append_cbor_head(out, kCborText, text.size());
  out += text;
}

}  // namespace

bool is_cbor_map(Bytes bytes) {
  if (bytes.empty()) return false;
  if (std::to_integer<unsigned>(bytes[0]) >> 5 == kCborMap) return true;
  constexpr std::array kSelf{std::byte{0xd9}, std::byte{kSelfDescribed >> 8},
                             std::byte{kSelfDescribed & 0xff}};
  return bytes.size() > kSelf.size() && std::equal(kSelf.begin(), kSelf.end(), bytes.begin());
}

Result<std::string> cbor_to_json(Bytes bytes, std::size_t limit) {
  try {
    return Converter(bytes, limit).convert();
  } catch (const Error& error) {
    return error;
  }
}

std::string cbor_publish_head(std::string_view topic) {
  std::string out;
  append_cbor_head(out, kCborMap, 3);
  append_text(out, "op");
  append_text(out, "publish");
  append_text(out, "topic");
  append_text(out, topic);
  append_text(out, "msg");
  return out;
}

std::string cbor_raw_head(std::string_view publish_head, std::int64_t wall_ns, std::size_t size) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::string out(publish_head);
  append_cbor_head(out, kCborMap, 3);
  append_text(out, "secs");
  append_cbor_head(out, kCborUnsigned, static_cast<std::uint64_t>(wall_ns / kSecond));
  append_text(out, "nsecs");
  append_cbor_head(out, kCborUnsigned, static_cast<std::uint64_t>(wall_ns % kSecond));
  append_text(out, "bytes");
  append_cbor_head(out, kCborBytes, size);
  return out;
}

}  // namespace hyphos::gateway::rosbridge
