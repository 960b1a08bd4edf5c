#include "gateway/convert/json_sink.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

#include "gateway/convert/ros_sink.hpp"
#include "gateway/convert/utf.hpp"

namespace hyphos::gateway {

namespace {

template <typename Number>
void append_number(Number value, std::string& out) {
  std::array<char, 40> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

template <typename Float>
void append_float(Float value, std::string& out) {
  if (value == 0 && std::signbit(value)) {
    out.append("-0.0");  // "-0" would be read as an integer
  } else if (std::isfinite(value)) {
    append_number(value, out);
  } else {
    out.append("null");
  }
}

void append_number_of(const Field& field, std::uint64_t bits, std::string& out) {
  if (field.kind == Kind::boolean) {
    out.append(bits != 0 ? "true" : "false");
  } else if (field.kind == Kind::float32) {
    append_float(std::bit_cast<float>(static_cast<std::uint32_t>(bits)), out);
  } else if (field.kind == Kind::float64) {
    append_float(std::bit_cast<double>(bits), out);
  } else if (field.is_signed) {
    append_number(static_cast<std::int64_t>(bits), out);
  } else {
    append_number(bits, out);
  }
}

}  // namespace

void append_json_text(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out.push_back('"');
  std::string repaired;
  if (!is_utf8(text)) {
    append_utf8(text, repaired);
    text = repaired;
  }
  std::size_t plain = 0;  // start of the text that needs no escape
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto letter = static_cast<unsigned char>(text[i]);
    if (letter >= 0x20 && letter != '"' && letter != '\\') continue;
    out.append(text.substr(plain, i - plain));
    plain = i + 1;
    out.push_back('\\');
    switch (letter) {
      case '"':
      case '\\':
        out.push_back(text[i]);
        break;
      case '\n':
        out.push_back('n');
        break;
      case '\r':
        out.push_back('r');
        break;
      case '\t':
        out.push_back('t');
        break;
      default:
        out.append("u00");
        out.push_back(kHex[letter >> 4U]);
        out.push_back(kHex[letter & 15U]);
    }
  }
  out.append(text.substr(plain));
  out.push_back('"');
}

bool JsonSink::open(const Shape& /*shape*/) {
  out_.push_back('{');
  return true;
}
bool JsonSink::close(const Shape& /*shape*/) {
  out_.push_back('}');
  return true;
}
bool JsonSink::key(const Field& field) {
  if (out_.back() != '{') out_.push_back(',');
  out_.push_back('"');
  out_.append(field.name);  // ROS names need no escape
  out_.append("\":");
  return true;
}
bool JsonSink::number(const Field& field, std::uint64_t bits) {
  append_number_of(field, bits, out_);
  return true;
}
bool JsonSink::text(const Field& /*field*/, std::string_view text) {
  append_json_text(text, out_);
  return true;
}
bool JsonSink::time(const Field& field, std::int64_t ns) {
  const RosTime time = ros_time(ns);
  out_.append(field.ros2 ? R"({"sec":)" : R"({"secs":)");
  append_number(time.seconds, out_);
  out_.append(field.ros2 ? R"(,"nanosec":)" : R"(,"nsecs":)");
  append_number(time.nanoseconds, out_);
  out_.push_back('}');
  return true;
}
bool JsonSink::list(const Field& /*field*/, std::size_t count) {
  out_.reserve(out_.size() + 2 * count);
  out_.push_back('[');
  return true;
}
bool JsonSink::item(const Field& /*field*/) {
  if (out_.back() != '[') out_.push_back(',');
  return true;
}
bool JsonSink::end_list(const Field& /*field*/) {
  out_.push_back(']');
  return true;
}
bool JsonSink::packed(const Field& field, Bytes numbers) {
  for (std::size_t at = 0; at < numbers.size(); at += field.width) {
    item(field);
    append_number_of(field, wire::get_le(numbers.data() + at, field.width), out_);
  }
  return true;
}
bool JsonSink::blob(const Field& field, std::size_t size) {
  if (!is_base64(field)) return list(field, size);
  out_.reserve(out_.size() + size / 3 * 4 + 16);
  out_.push_back('"');
  return true;
}
bool JsonSink::piece(const Field& field, Bytes bytes) {
  if (is_base64(field)) {
    base64_.write(bytes);
    return true;
  }
  for (const std::byte byte : bytes) {
    item(field);
    append_number(static_cast<int>(field.is_signed ? std::to_integer<std::int8_t>(byte)
                                                   : std::to_integer<std::uint8_t>(byte)),
                  out_);
  }
  return true;
}
bool JsonSink::end_blob(const Field& field) {
  if (!is_base64(field)) return end_list(field);
  base64_.end();
  out_.push_back('"');
  return true;
}

}  // namespace hyphos::gateway
