#include "gateway/rosbridge/request.hpp"

#include <simdjson.h>

#include <array>
#include <cmath>
#include <utility>

#include "gateway/net/web_socket.hpp"
#include "gateway/rosbridge/long_message.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

namespace json = simdjson::ondemand;
static_assert(net::kPadding >= simdjson::SIMDJSON_PADDING);

// The parser frees its tables after a text above this size.
constexpr std::size_t kKept = std::size_t{4} << 20;
constexpr std::size_t kMaxName = 4096;

Error malformed(std::string message, std::string_view where = {}) {
  return {Code::corrupt, std::move(message), std::string(where)};
}
Error missing(std::string_view member, std::string_view where = {}) {
  return malformed("'" + std::string(member) + "' is missing", where);
}

Error wrong(std::string_view key, std::string_view should) {
  return malformed("'" + std::string(key) + "' must be " + std::string(should));
}

using Text = std::string Request::*;
using Number = std::int64_t Request::*;
using Raw = std::string_view Request::*;

constexpr std::array<std::pair<std::string_view, Text>, 10> kTexts{{
    {"op", &Request::op},
    {"topic", &Request::topic},
    {"service", &Request::service},
    {"action", &Request::action},
    {"type", &Request::type},
    {"action_type", &Request::action_type},
    {"compression", &Request::compression},
    {"level", &Request::level},
    {"token", &Request::token},
    {"data", &Request::data},
}};
constexpr std::array<std::pair<std::string_view, Number>, 6> kNumbers{{
    {"throttle_rate", &Request::throttle_rate_ms},
    {"queue_length", &Request::queue_length},
    {"queue_size", &Request::queue_size},
    {"num", &Request::num},
    {"total", &Request::total},
    {"status", &Request::status},
}};
constexpr std::array<std::pair<std::string_view, Raw>, 3> kMessages{{
    {"msg", &Request::msg},
    {"args", &Request::args},
    {"values", &Request::values},
}};

// JavaScript clients may send 3.0, or 3.2 for a number of fragments. Only the integer part counts.
std::optional<std::int64_t> whole(json::value& value) {
  double number = 0;
  if (value.get_double().get(number) != simdjson::SUCCESS) return std::nullopt;
  if (!(std::abs(number) <= 9e15)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<Error> read_id(Request& request, json::value& value) {
  json::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return wrong("id", "a string or a number");
  if (type == json::json_type::null) return std::nullopt;
  if (type != json::json_type::string && type != json::json_type::number) {
    return wrong("id", "a string or a number");
  }
  // Parsed as a value, but echoed as it was written.
  const std::string_view token = value.raw_json_token();
  const std::string_view raw = token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
  if (raw.size() > kMaxName) return wrong("id", "4096 bytes at most");
  if (type == json::json_type::string) {
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) return wrong("id", "a string");
  } else {
    double number = 0;
    if (value.get_double().get(number) != simdjson::SUCCESS) return wrong("id", "a number");
  }
  request.id = raw;
  return std::nullopt;
}

bool is_null(json::value& value) {
  bool null = false;
  return value.is_null().get(null) == simdjson::SUCCESS && null;
}

std::optional<Error> read_other(Request& request, std::string_view key, json::value& value) {
  if (key == "id") return read_id(request, value);
  if (key == "result") {
    bool flag = false;
    // Clients of the original rosbridge may also send null, if a callback returns nothing.
    if (is_null(value)) return std::nullopt;
    if (value.get_bool().get(flag) != simdjson::SUCCESS) return wrong(key, "true or false");
    request.result = flag;
  } else if (key == "latch" || key == "feedback") {
    if (is_null(value)) return std::nullopt;
    bool& flag = key == "latch" ? request.latch : request.feedback;
    if (value.get_bool().get(flag) != simdjson::SUCCESS) return wrong(key, "true or false");
  } else if (key == "timeout") {
    double seconds = 0;
    if (is_null(value)) return std::nullopt;
    if (value.get_double().get(seconds) != simdjson::SUCCESS) return wrong(key, "seconds");
    request.timeout_s = seconds;
  } else if (key == "fragment_size") {
    if (is_null(value)) return std::nullopt;
    request.fragment_size = whole(value);
    if (!request.fragment_size) return wrong(key, "a number of bytes");
  } else if (key == "mac") {
    request.has_mac = true;
  }
  return std::nullopt;
}

std::optional<Error> read_member(Request& request, std::string_view key, json::value& value) {
  for (const auto& [name, member] : kMessages) {
    if (key != name) continue;
    std::string_view raw;
    if (simdjson::to_json_string(value).get(raw) != simdjson::SUCCESS) {
      return malformed("the text ends inside '" + std::string(key) +
                       "', or its brackets do not match");
    }
    request.*member = raw;
    return std::nullopt;
  }
  for (const auto& [name, member] : kTexts) {
    if (key != name) continue;
    std::string_view text;
    if (is_null(value)) return std::nullopt;
    if (value.get_string().get(text) != simdjson::SUCCESS) return wrong(key, "a string");
    // Names are repeated in replies and logs.
    if (text.size() > kMaxName && key != "data") return wrong(key, "4096 bytes at most");
    request.*member = text;
    return std::nullopt;
  }
  for (const auto& [name, member] : kNumbers) {
    if (key != name) continue;
    if (is_null(value)) return std::nullopt;
    const auto number = whole(value);
    if (!number) return wrong(key, "a number");
    request.*member = *number;
    return std::nullopt;
  }
  return read_other(request, key, value);
}

// All members are read even if one is wrong, so that the error can include the id.
std::optional<Error> read_object(Request& request, json::object& object) {
  std::optional<Error> error;
  for (auto member : object) {
    json::field field;
    std::string_view key;
    if (std::move(member).get(field) != simdjson::SUCCESS ||
        field.unescaped_key().get(key) != simdjson::SUCCESS) {
      return malformed("the message is not valid JSON");
    }
    auto wrong_member = read_member(request, key, field.value());
    if (wrong_member && !error) error = std::move(wrong_member);
  }
  return error;
}

}  // namespace

struct RequestParser::Library {
  json::parser parser;
  std::string shortened;  ///< the text without its long message
};

RequestParser::RequestParser() : library_(std::make_unique<Library>()) {}
RequestParser::~RequestParser() = default;

ParsedRequest RequestParser::parse(std::string_view text, const DecodedText* decoded) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const auto message = long_message(text, decoded)) {
    std::string& rest = library_->shortened;
    const std::string_view msg = message->text;
    rest.reserve(text.size() - msg.size() + 2 + net::kPadding);
    const auto begin = static_cast<std::size_t>(msg.data() - text.data());
    rest.assign(text.substr(0, begin)).append("{}").append(text.substr(begin + msg.size()));
    ParsedRequest out = parse_whole(rest);
    if (!out.error && out.request.op == "publish") {
      out.request.msg = msg;
      out.request.plain = message->plain;
      out.request.decoded = decoded;
      return out;
    }
  }
  return parse_whole(text);
}

ParsedRequest RequestParser::parse_whole(std::string_view text) {
  ParsedRequest out;
  json::document document;
  json::object object;
  const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + net::kPadding);
  auto error = library_->parser.iterate(padded).get(document);
  if (error == simdjson::SUCCESS) error = document.get_object().get(object);
  if (error != simdjson::SUCCESS) {
    out.error = malformed("the message is not a JSON object: " +
                          std::string(simdjson::error_message(error)));
  } else {
    out.error = read_object(out.request, object);
    if (!out.error && document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      out.error = malformed("more text follows after the object");
    }
    if (!out.error && out.request.op.empty()) out.error = missing("op");
  }
  if (text.size() > kKept) library_ = std::make_unique<Library>();
  return out;
}

Result<void> required(std::string_view value, std::string_view member, std::string_view where) {
  return value.empty() ? Result<void>(missing(member, where)) : success();
}

Result<std::vector<std::string_view>> list_items(std::string_view text) {
  json::parser parser;
  json::document document;
  json::array array;
  const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + net::kPadding);
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_array().get(array) != simdjson::SUCCESS) {
    return malformed("the value is not a JSON list");
  }
  std::vector<std::string_view> out;
  for (auto item : array) {
    json::value value;
    std::string_view raw;
    if (std::move(item).get(value) != simdjson::SUCCESS ||
        simdjson::to_json_string(value).get(raw) != simdjson::SUCCESS) {
      return malformed("the value is not a JSON list");
    }
    out.push_back(raw);
  }
  return out;
}

std::string text_argument(std::string_view text, std::string_view key) {
  json::parser parser;
  json::document document;
  const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + net::kPadding);
  std::string_view found;
  if (text.starts_with('[')) {
    const auto items = list_items(text);
    return items && !items->empty() ? plain_text(items->front()) : std::string();
  }
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.find_field_unordered(key).get_string().get(found) != simdjson::SUCCESS) {
    return {};
  }
  return std::string(found);
}

std::string plain_text(std::string_view text) {
  json::parser parser;
  json::document document;
  const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + net::kPadding);
  std::string_view found;
  if (!text.starts_with('"') || parser.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_string().get(found) != simdjson::SUCCESS) {
    return std::string(text);
  }
  return std::string(found);
}

}  // namespace hyphos::gateway::rosbridge
