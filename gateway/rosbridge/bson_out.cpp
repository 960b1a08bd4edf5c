// Messages to a client that uses BSON: the text of replies, and the CBOR of topics.
#include <simdjson.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "gateway/convert/cbor_head.hpp"
#include "gateway/rosbridge/bson.hpp"
#include "gateway/rosbridge/bson_writer.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

using Bytes = std::span<const std::byte>;
using simdjson::dom::element;
using simdjson::dom::element_type;

void add(BsonWriter& out, std::string_view key, const element& value);

void add_all(BsonWriter& out, const simdjson::dom::object& object) {
  for (const auto& [key, value] : object) add(out, key, value);
}

void add(BsonWriter& out, std::string_view key, const element& value) {
  switch (value.type()) {
    case element_type::OBJECT: {
      const std::size_t begun = out.begin(key, Bson::document);
      add_all(out, value.get_object().value_unsafe());
      return out.end(begun);
    }
    case element_type::ARRAY: {
      const std::size_t begun = out.begin(key, Bson::array);
      std::size_t index = 0;
      const simdjson::dom::array array = value.get_array().value_unsafe();
      for (const element item : array) {
        add(out, std::to_string(index++), item);
      }
      return out.end(begun);
    }
    case element_type::INT64:
      return out.whole(key, value.get_int64().value_unsafe());
    case element_type::UINT64:
      return out.whole(key, value.get_uint64().value_unsafe());
    case element_type::DOUBLE:
      return out.real(key, value.get_double().value_unsafe());
    case element_type::STRING:
      return out.text(key, value.get_string().value_unsafe());
    case element_type::BOOL:
      return out.boolean(key, value.get_bool().value_unsafe());
    case element_type::NULL_VALUE:
      return out.null(key);
  }
}

/// Reads the CBOR that the gateway writes: definite lengths, and typed arrays in little endian.
/// Throws Error, which the functions below catch.
class FromCbor {
 public:
  FromCbor(Bytes bytes, BsonWriter& out) : bytes_(bytes), out_(out) {}

  void document() {
    const Head head = next();
    if (head.major != kCborMap) fail();
    const std::size_t begun = out_.begin();
    members(head.value, 0);
    out_.end(begun);
    if (at_ != bytes_.size()) fail();
  }
  void member(std::string_view key) {
    value(key, 0);
    if (at_ != bytes_.size()) fail();
  }

 private:
  static constexpr int kMaxDepth = 64;
  struct Head {
    unsigned major = 0;
    unsigned info = 0;
    std::uint64_t value = 0;
  };

  [[noreturn]] void fail() const {
    throw Error{Code::corrupt, "invalid CBOR at byte " + std::to_string(at_), ""};
  }
  Bytes take(std::uint64_t size) {
    if (size > bytes_.size() - at_) fail();
    const Bytes part = bytes_.subspan(at_, static_cast<std::size_t>(size));
    at_ += part.size();
    return part;
  }
  Head next() {
    const auto first = std::to_integer<unsigned>(take(1)[0]);
    Head head{first >> 5, first & 0x1fU, first & 0x1fU};
    if (head.info > 27) fail();
    if (head.info >= 24) {
      head.value = 0;
      for (const std::byte byte : take(std::uint64_t{1} << (head.info - 24))) {
        head.value = head.value << 8 | std::to_integer<std::uint64_t>(byte);
      }
    }
    return head;
  }
  std::string_view text(std::uint64_t size) {
    const Bytes part = take(size);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }

  void members(std::uint64_t count, int depth) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const Head key = next();
      if (key.major != kCborText) fail();
      value(text(key.value), depth);
    }
  }
  void value(std::string_view key, int depth) {
    if (depth > kMaxDepth) fail();
    const Head head = next();
    switch (head.major) {
      case kCborUnsigned:
        return out_.whole(key, head.value);
      case kCborNegative:
        if (head.value > INT64_MAX) fail();
        return out_.whole(key, -1 - static_cast<std::int64_t>(head.value));
      case kCborBytes:
        return out_.binary(key, take(head.value));
      case kCborText:
        return out_.text(key, text(head.value));
      case kCborArray: {
        const std::size_t begun = out_.begin(key, Bson::array);
        for (std::uint64_t i = 0; i < head.value; ++i) value(std::to_string(i), depth + 1);
        return out_.end(begun);
      }
      case kCborMap: {
        const std::size_t begun = out_.begin(key, Bson::document);
        members(head.value, depth + 1);
        return out_.end(begun);
      }
      case kCborTag:
        return tagged(key, head.value);
      default:
        return simple(key, head);
    }
  }
  void simple(std::string_view key, const Head& head) {
    switch (head.info) {
      case 20:
      case 21:
        return out_.boolean(key, head.info == 21);
      case 22:
        return out_.null(key);
      case 26:
        return out_.real(key, std::bit_cast<float>(static_cast<std::uint32_t>(head.value)));
      case 27:
        return out_.real(key, std::bit_cast<double>(head.value));
      default:
        fail();
    }
  }
  // RFC 8746: the tag is 0b010'f's'e'll: float, signed, little endian, the exponent of the length.
  void tagged(std::string_view key, std::uint64_t tag) {
    const Head head = next();
    if (tag < 64 || tag > 87 || head.major != kCborBytes) fail();
    const Bytes bytes = take(head.value);
    if (tag == 64 || tag == 68) return out_.binary(key, bytes);
    const bool is_float = (tag & 16U) != 0;
    const bool is_signed = (tag & 8U) != 0;
    const bool little = (tag & 4U) != 0;
    const std::size_t length = std::size_t{1} << ((tag & 3U) + (is_float ? 1 : 0));
    if (length > 8 || (is_float && length < 4) || bytes.size() % length != 0) fail();
    const std::size_t begun = out_.begin(key, Bson::array);
    for (std::size_t at = 0; at < bytes.size(); at += length) {
      std::uint64_t word = 0;
      for (std::size_t i = 0; i < length; ++i) {
        const std::size_t from = little ? length - 1 - i : i;
        word = word << 8 | std::to_integer<std::uint64_t>(bytes[at + from]);
      }
      element_of(std::to_string(at / length), word, length, is_float, is_signed);
    }
    out_.end(begun);
  }
  void element_of(const std::string& key, std::uint64_t word, std::size_t length, bool is_float,
                  bool is_signed) {
    if (is_float) {
      return out_.real(key, length == 8 ? std::bit_cast<double>(word)
                                        : std::bit_cast<float>(static_cast<std::uint32_t>(word)));
    }
    if (!is_signed) return out_.whole(key, word);
    const auto unused = static_cast<unsigned>(64 - 8 * length);
    out_.whole(key, static_cast<std::int64_t>(word << unused) >> unused);
  }

  const Bytes bytes_;
  std::size_t at_ = 0;
  BsonWriter& out_;
};

}  // namespace

Result<std::string> json_to_bson(std::string_view json) { return json_to_bson(json, {}, {}); }

Result<std::string> json_to_bson(std::string_view json, std::string_view member, Bytes cbor) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(json.data(), json.size()).get(object) != simdjson::SUCCESS) {
    return Error{Code::corrupt, "the text is no object of JSON", ""};
  }
  BsonWriter out;
  const std::size_t begun = out.begin();
  try {
    for (const auto& [key, value] : object) {
      if (!cbor.empty() && key == member) {
        FromCbor(cbor, out).member(key);
      } else {
        add(out, key, value);
      }
    }
  } catch (const Error& error) {
    return error;
  }
  out.end(begun);
  return out.take();
}

std::string bson_error(std::string_view text) {
  BsonWriter out;
  const std::size_t begun = out.begin();
  out.text("op", "status");
  out.text("level", "error");
  out.text("msg", text);
  out.end(begun);
  return out.take();
}

Result<std::string> cbor_to_bson(Bytes bytes) {
  try {
    BsonWriter out;
    FromCbor(bytes, out).document();
    return out.take();
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace hyphos::gateway::rosbridge
