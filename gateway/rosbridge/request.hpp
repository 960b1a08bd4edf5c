#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/convert/decode_hint.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::rosbridge {

/// An operation of a client. A missing member has the default of the protocol.
struct Request {
  std::string op;
  std::string id;  ///< JSON to be echoed: "\"a\"", "7", empty if missing
  std::string topic;
  std::string service;
  std::string action;
  std::string type;
  std::string action_type;
  std::string compression;
  std::string level;
  std::string token;
  std::string data;  ///< of a fragment or a png
  // JSON as in the parsed text. Empty if missing.
  std::string_view msg;
  std::string_view args;
  std::string_view values;
  std::optional<bool> result;
  std::optional<double> timeout_s;
  std::int64_t throttle_rate_ms = 0;
  std::int64_t queue_length = 0;
  std::optional<std::int64_t> fragment_size;
  std::int64_t queue_size = 0;
  std::int64_t num = -1;
  std::int64_t total = -1;
  std::int64_t status = 0;  ///< of a goal, as in action_msgs/GoalStatus
  bool latch = false;
  bool feedback = false;
  bool plain = false;    ///< `msg` is known to contain no NaN and no Infinity
  bool has_mac = false;  ///< an auth request in the style of rosauth
  /// string of `msg` that is already decoded, or null if the text was changed
  const DecodedText* decoded = nullptr;
};

/// The result of parsing. `id` and `op` are set if they were read before the error.
struct ParsedRequest {
  Request request;
  std::optional<Error> error;
};

/// Parses operations. For use by one thread at a time. It reuses its memory.
class RequestParser {
 public:
  RequestParser();
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  /// `text` must be followed by kPadding readable bytes. ClientRegistry may be in any order, and
  /// unknown ones are skipped. Inner messages are scanned only for their ends, so they may be
  /// invalid JSON. `decoded` may be null, or a string of `text` that is already decoded. It must
  /// outlive the request.
  [[nodiscard]] ParsedRequest parse(std::string_view text, const DecodedText* decoded = nullptr);

 private:
  struct Library;
  [[nodiscard]] ParsedRequest parse_whole(std::string_view text);
  std::unique_ptr<Library> library_;
};

/// Checks that a member of a request has a value. Error: corrupt, at `where`, which names the
/// topic, the service or the action.
[[nodiscard]] Result<void> required(std::string_view value, std::string_view member,
                                    std::string_view where = {});

/// The items of a JSON list, as written. `text` must be followed by kPadding readable bytes.
[[nodiscard]] Result<std::vector<std::string_view>> list_items(std::string_view text);

/// The string value of an object member, or of the first item of a list. Empty if it is missing or
/// not a string. `text` must be followed by kPadding readable bytes.
[[nodiscard]] std::string text_argument(std::string_view text, std::string_view key);

/// The content of a JSON string. Other values are returned unchanged. `text` must be followed by
/// kPadding readable bytes.
[[nodiscard]] std::string plain_text(std::string_view text);

}  // namespace hyphos::gateway::rosbridge
