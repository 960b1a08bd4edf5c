#include "gateway/rosbridge/bson.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "gateway/convert/base64.hpp"
#include "gateway/convert/json_sink.hpp"
#include "gateway/rosbridge/bson_writer.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

using Bytes = std::span<const std::byte>;

constexpr int kMaxBsonDepth = 64;
constexpr std::size_t kLeast = 5;  // bytes of an empty document
constexpr std::size_t kLength = 4;

/// Throws Error, which bson_to_json() catches, as the converter of CBOR does.
class Reader {
 public:
  Reader(Bytes bytes, std::size_t limit) : bytes_(bytes), limit_(limit) {}

  std::string convert() {
    document(false, 0);
    if (at_ != bytes_.size()) fail("more bytes follow after the document");
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, Code code = Code::corrupt) const {
    throw Error{code, "invalid BSON at byte " + std::to_string(at_) + ": " + what, ""};
  }
  void check_length() const {
    if (out_.size() > limit_) fail("the JSON form is too long", Code::exhausted);
  }
  Bytes take(std::size_t size) {
    if (size > bytes_.size() - at_) fail("the data ends too early");
    const Bytes part = bytes_.subspan(at_, size);
    at_ += size;
    return part;
  }
  template <typename Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::size_t length(std::size_t least) {
    const auto value = number<std::int32_t>();
    if (value < 0 || static_cast<std::size_t>(value) < least) fail("a length is too small");
    return static_cast<std::size_t>(value);
  }
  std::string_view key() {
    const std::size_t begin = at_;
    while (take(1)[0] != std::byte{0}) {
    }
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, at_ - begin - 1};
  }

  void document(bool is_array, int depth) {
    if (depth > kMaxBsonDepth) fail("values are nested deeper than 64", Code::exhausted);
    const std::size_t begin = at_;
    const std::size_t size = length(kLeast);
    if (size > bytes_.size() - begin) fail("the data ends too early");
    out_ += is_array ? '[' : '{';
    for (bool first = true;; first = false) {
      const auto type = std::to_integer<std::uint8_t>(take(1)[0]);
      if (type == 0) break;
      if (!first) out_ += ',';
      const std::string_view name = key();
      // The keys of an array are its indices, in order.
      if (!is_array) {
        append_json_text(name, out_);
        out_ += ':';
      }
      value(static_cast<Bson>(type), depth);
      check_length();
    }
    out_ += is_array ? ']' : '}';
    if (at_ != begin + size) fail("a document has another length than its content");
  }

  void value(Bson type, int depth) {
    switch (type) {
      case Bson::real:
        return real(number<double>());
      case Bson::text:
        return text();
      case Bson::document:
        return document(false, depth + 1);
      case Bson::array:
        return document(true, depth + 1);
      case Bson::binary:
        return binary();
      case Bson::boolean: {
        const auto flag = std::to_integer<std::uint8_t>(take(1)[0]);
        if (flag > 1) fail("a boolean is neither 0 nor 1");
        out_ += flag == 1 ? "true" : "false";
        return;
      }
      case Bson::null:
        out_ += "null";
        return;
      case Bson::int32:
        out_ += std::to_string(number<std::int32_t>());
        return;
      case Bson::int64:
        out_ += std::to_string(number<std::int64_t>());
        return;
    }
    fail("elements of type " + std::to_string(static_cast<int>(type)) + " do not exist in ROS");
  }

  void text() {
    const std::size_t size = length(1);
    const Bytes part = take(size);
    if (part.back() != std::byte{0}) fail("a text does not end with a NUL");
    append_json_text({reinterpret_cast<const char*>(part.data()), size - 1}, out_);
  }

  void binary() {
    std::size_t size = length(0);
    const auto subtype = std::to_integer<std::uint8_t>(take(1)[0]);
    constexpr std::uint8_t kOld = 2;  // has its length a second time
    if (subtype == kOld) {
      if (size < kLength || length(0) != size - kLength) fail("binary data has two lengths");
      size -= kLength;
    }
    if (size / 3 * 4 > limit_) fail("the JSON form is too long", Code::exhausted);
    out_ += '"';
    Base64Writer writer(out_);
    writer.write(take(size));
    writer.end();
    out_ += '"';
  }

  void real(double value) {
    if (std::isnan(value)) {
      out_ += R"("NaN")";
    } else if (std::isinf(value)) {
      out_ += value < 0 ? R"("-Infinity")" : R"("Infinity")";
    } else {
      std::array<char, 32> digits{};
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
      const std::string_view written(digits.data(), end);
      out_ += written;
      // The parser accepts only integers of 64 bits.
      if (written.size() >= 19 && written.find_first_of(".e") == written.npos) out_ += ".0";
    }
  }

  const Bytes bytes_;
  const std::size_t limit_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::optional<std::size_t> bson_size(Bytes bytes) {
  std::uint32_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  constexpr std::byte kBlank{0x20};
  for (std::size_t at = 0; at < kLength; ++at) {
    if (bytes[at] < kBlank) return size;
  }
  return std::nullopt;
}

Result<std::string> bson_to_json(Bytes bytes, std::size_t limit) {
  try {
    return Reader(bytes, limit).convert();
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace hyphos::gateway::rosbridge
