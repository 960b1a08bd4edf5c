#pragma once

#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/convert/base64.hpp"
#include "gateway/convert/conversion_error.hpp"
#include "gateway/convert/long_texts.hpp"
#include "gateway/convert/proto_out.hpp"
#include "gateway/convert/scan.hpp"
#include "gateway/convert/shape.hpp"

namespace hyphos::gateway {

using Json = simdjson::dom::element;

/// The byte array that becomes an attached buffer: its JSON value and its size in bytes.
struct AttachedJson {
  const Field* field = nullptr;
  Json json;
  std::size_t size = 0;
};

/// dom::array::size() saturates at 2^24.
[[nodiscard]] inline std::size_t count_of(simdjson::dom::array array) {
  std::size_t count = 0;
  for (auto at = array.begin(); at != array.end(); ++at) ++count;
  return count;
}

/// Writes the bytes of base64 or of a list of numbers. Their number is already known.
inline bool write_blob(const Field& field, Json json, std::byte* to, ConversionError& failure,
                       LongTexts& long_texts) {
  std::string_view text;
  if (json.get(text) == simdjson::SUCCESS) {
    if (!long_texts.has(text)) return decode_base64(text, to) || failure.fail("is not base64");
    const std::string_view whole = long_texts.of(text);
    if (const Buffer* const bytes = long_texts.bytes_of(whole)) {
      std::ranges::copy(bytes->bytes(), to);
    } else if (!decode_base64(whole, to)) {
      return failure.fail("is not base64");
    }
    long_texts.read();
    return true;
  }
  for (const Json element : simdjson::dom::array(json)) {
    std::int64_t value = 0;
    if (element.get(value) != simdjson::SUCCESS || value < (field.is_signed ? -128 : 0) ||
        value > (field.is_signed ? 127 : 255)) {
      return failure.fail("has an element that is not a byte");
    }
    *to++ = static_cast<std::byte>(value);
  }
  return true;
}

/// The set of fields that a message has named. Allocates only for messages with more than 64
/// fields.
class NamedFields {
 public:
  explicit NamedFields(std::size_t count) : rest_(count > 64 ? count - 64 : 0) {}
  /// Returns false if the field was named before.
  bool add(std::size_t place) {
    if (place >= 64) return std::exchange(rest_[place - 64], '\1') == 0;
    const std::uint64_t before = std::exchange(first_, first_ | std::uint64_t{1} << place);
    return before != first_;
  }

 private:
  std::uint64_t first_ = 0;
  std::vector<char> rest_;
};

/// Writes JSON from a rosbridge client as protobuf. The client may omit fields, and may write byte
/// arrays as base64 or as numbers. A header without a stamp gets `now_ns`.
template <typename Out>
class FromJson {
 public:
  FromJson(Out& out, Sizes& sizes, ConversionError& failure, std::int64_t now_ns,
           AttachedJson& attached, LongTexts& long_texts)
      : out_(out),
        sizes_(sizes),
        failure_(failure),
        now_ns_(now_ns),
        attached_(attached),
        long_texts_(long_texts) {}

  bool message(const Shape& shape, Json json) {
    simdjson::dom::object object;
    if (json.get(object) != simdjson::SUCCESS) return failure_.fail("is not a JSON object");
    bool stamped = false;
    NamedFields named(shape.fields.size());
    for (const auto [name, value] : object) {
      const Field* const field = find(shape, name);
      if (field == nullptr) {
        return failure_.fail("has the field '" + std::string(name) + "', which " + shape.ros_name +
                             " does not define");
      }
      // Protobuf would join both, and the result could exceed every bound of ROS.
      if (!named.add(static_cast<std::size_t>(field - shape.fields.data()))) {
        return failure_.fail("has the field '" + std::string(name) + "' twice");
      }
      stamped = stamped || field->name == "stamp";
      if (!put(*field, value)) return failure_.in(field->name);
    }
    if (!stamped && is_header(shape)) {
      const Field* const stamp = find(shape, "stamp");
      put_field(out_, *stamp, static_cast<std::uint64_t>(now_ns_));
    }
    return true;
  }

 private:
  static bool is_header(const Shape& shape) {
    return shape.ros_name == "std_msgs/Header" || shape.ros_name == "std_msgs/msg/Header";
  }
  static const Field* find(const Shape& shape, std::string_view name) {
    for (const Field& field : shape.fields) {
      if (field.name == name) return &field;
    }
    return nullptr;
  }

  bool put(const Field& field, Json json) {
    if (field.count != Count::one) return list(field, json);
    if (field.kind == Kind::message) return inner(field, json, false);
    if (field.is_text()) return text(field, json, false);
    std::uint64_t bits = 0;
    if (!number(field, json, bits)) return false;
    put_field(out_, field, bits);
    return true;
  }

  bool inner(const Field& field, Json json, bool even_empty) {
    return with_length(out_, sizes_, field.number, even_empty,
                       [&] { return message(*field.shape, json); });
  }

  bool text(const Field& field, Json json, bool even_empty) {
    std::string_view text;
    if (json.get(text) != simdjson::SUCCESS) return failure_.fail("is not a string");
    if (long_texts_.has(text)) return failure_.fail("is not base64");
    if (!failure_.accept(text_problem(field, text.size()))) return false;
    put_bytes(out_, field, std::as_bytes(std::span(text)), even_empty);
    return true;
  }

  bool number(const Field& field, Json json, std::uint64_t& bits) {
    if (field.is_time()) return time(json, bits);
    if (field.flag) return boolean(json, bits);
    if (field.is_float()) return real(field, json, bits);
    return whole(field, json, bits);
  }
  bool boolean(Json json, std::uint64_t& bits) {
    bool value = false;
    std::int64_t number = 0;
    if (json.get(value) == simdjson::SUCCESS) {
      bits = value ? 1 : 0;
      return true;
    }
    if (json.get(number) != simdjson::SUCCESS || number < 0 || number > 1) {
      return failure_.fail("is neither true nor false");
    }
    bits = static_cast<std::uint64_t>(number);
    return true;
  }
  bool real(const Field& field, Json json, std::uint64_t& bits) {
    double value = 0;
    std::string_view word;
    if (json.is_null()) {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (json.get(word) == simdjson::SUCCESS) {
      if (!special(word, value)) return failure_.fail("is a string, not a number");
    } else if (json.get(value) != simdjson::SUCCESS) {
      return failure_.fail("is not a number");
    }
    bits = field.width == 4 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                            : std::bit_cast<std::uint64_t>(value);
    return true;
  }
  /// JSON has no such numbers, but some clients write them.
  static bool special(std::string_view word, double& value) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (word == "NaN") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (word == "Infinity") {
      value = kInfinity;
    } else if (word == "-Infinity") {
      value = -kInfinity;
    } else {
      return false;
    }
    return true;
  }
  bool whole(const Field& field, Json json, std::uint64_t& bits) {
    std::int64_t value = 0;
    double real = 0;
    if (json.get(value) == simdjson::SUCCESS) {
      bits = static_cast<std::uint64_t>(value);
      if (value < 0 && !field.is_signed) return refuse(field, std::to_string(value));
    } else if (json.get(bits) == simdjson::SUCCESS) {
      if (field.is_signed) return refuse(field, std::to_string(bits));
    } else if (json.get(real) == simdjson::SUCCESS && std::abs(real) < 0x1p53 &&
               real == std::trunc(real) && (field.is_signed || real >= 0)) {
      bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(real));
    } else {
      return failure_.fail("is not an integer");
    }
    return in_range(field, bits) || refuse(field, std::to_string(static_cast<std::int64_t>(bits)));
  }
  bool refuse(const Field& field, const std::string& number) {
    return failure_.fail("is " + number + ", out of range for " +
                         (field.is_signed ? "int" : "uint") + std::to_string(8 * field.width));
  }
  bool time(Json json, std::uint64_t& bits) {
    std::string_view word;
    if (json.get(word) == simdjson::SUCCESS && word == "now") {
      bits = static_cast<std::uint64_t>(now_ns_);
      return true;
    }
    simdjson::dom::object object;
    if (json.get(object) != simdjson::SUCCESS)
      return failure_.fail("is not a time: write {secs, nsecs}");
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    for (const auto [name, value] : object) {
      const bool is_seconds = name == "secs" || name == "sec";
      if (!is_seconds && name != "nsecs" && name != "nanosec" && name != "nsec") {
        return failure_.fail("has the field '" + std::string(name) +
                             "', which a time does not define");
      }
      if (value.get(is_seconds ? seconds : nanoseconds) != simdjson::SUCCESS) {
        return failure_.fail("has a '" + std::string(name) + "' that is not an integer");
      }
    }
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    if (seconds < -kMost || seconds > kMost || nanoseconds < -kMost || nanoseconds > kMost) {
      return failure_.fail("is outside the range of a ROS time");
    }
    bits = static_cast<std::uint64_t>(seconds * 1'000'000'000 + nanoseconds);
    return true;
  }

  bool list(const Field& field, Json json) {
    if (field.blob) return blob(field, json);
    simdjson::dom::array array;
    if (json.get(array) != simdjson::SUCCESS) return failure_.fail("is not a list");
    if (!failure_.accept(count_problem(field, count_of(array)))) return false;
    if (field.kind == Kind::message || field.is_text()) {
      for (const Json element : array) {
        if (field.is_text() ? !this->text(field, element, true) : !inner(field, element, true)) {
          return false;
        }
      }
      return true;
    }
    return with_length(out_, sizes_, field.number, false, [&] {
      for (const Json element : array) {
        std::uint64_t bits = 0;
        if (!number(field, element, bits)) return false;
        put_number(out_, field, bits);
      }
      return true;
    });
  }
  bool blob(const Field& field, Json json) {
    std::size_t size = 0;
    if (!blob_size(field, json, size)) return false;
    if (field.attached) {
      attached_ = {&field, json, size};
      return true;
    }
    if (size == 0) return true;
    out_.tag(field.number, wire::kBytes);
    out_.varint(size);
    std::byte* const place = out_.room(size);
    return Out::kMeasures || write_blob(field, json, place, failure_, long_texts_);
  }
  bool blob_size(const Field& field, Json json, std::size_t& size) {
    std::string_view text;
    simdjson::dom::array array;
    if (json.get(text) == simdjson::SUCCESS) {
      size = base64_size(long_texts_.has(text) ? long_texts_.of(text) : text);
    } else if (json.get(array) == simdjson::SUCCESS) {
      size = count_of(array);
    } else {
      return failure_.fail("is neither base64 nor a list of numbers");
    }
    return failure_.accept(count_problem(field, size));
  }

  Out& out_;
  Sizes& sizes_;
  ConversionError& failure_;
  std::int64_t now_ns_;
  AttachedJson& attached_;
  LongTexts& long_texts_;
};

}  // namespace hyphos::gateway
