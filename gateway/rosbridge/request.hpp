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

/// An operation as a client sent it: what is missing has its value of the protocol.
struct Request {
  std::string op;
  std::string id;  ///< as JSON, to be echoed: "\"a\"", "7"; empty if there was none
  std::string topic;
  std::string service;
  std::string action;
  std::string type;
  std::string action_type;
  std::string compression;
  std::string level;
  std::string token;
  std::string data;  ///< of a fragment, or of a png
  // JSON as it stands in the text that was parsed; empty if there was none.
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
  std::int64_t status = 0;  ///< of a goal, as action_msgs/GoalStatus has it
  bool latch = false;
  bool feedback = false;
  bool plain = false;                    ///< `msg` is known to have no NaN and no Infinity
  bool has_mac = false;                  ///< auth as rosauth had it
  const DecodedText* decoded = nullptr;  ///< of `msg`, if it is that of the text that was parsed
};

/// What could be read, and what was wrong. `id` and `op` are there if they were read before.
struct ParsedRequest {
  Request request;
  std::optional<Error> error;
};

/// Reads operations. One thread at a time; keeps its memory for the next one.
class RequestParser {
 public:
  RequestParser();
  ~RequestParser();
  RequestParser(const RequestParser&) = delete;
  RequestParser& operator=(const RequestParser&) = delete;

  /// `text` has to be followed by kPadding bytes that may be read. ClientRegistry may come in any
  /// order; unknown ones are skipped. The messages inside are only looked at as far as their ends,
  /// and may be no JSON. `decoded`, or null: a string of `text` that has been read; it outlives the
  /// request.
  [[nodiscard]] ParsedRequest parse(std::string_view text, const DecodedText* decoded = nullptr);

 private:
  struct Library;
  [[nodiscard]] ParsedRequest parse_whole(std::string_view text);
  std::unique_ptr<Library> library_;
};

/// The items of a JSON list, as they stand in it. `text` has to be followed by kPadding bytes.
[[nodiscard]] Result<std::vector<std::string_view>> list_items(std::string_view text);

/// The text of a member of an object, or the first item of a list; empty if there is none, or if it
/// is no text. `text` has to be followed by kPadding bytes.
[[nodiscard]] std::string text_argument(std::string_view text, std::string_view key);

/// The text of a JSON string, else `text` as it is. It has to be followed by kPadding bytes.
[[nodiscard]] std::string plain_text(std::string_view text);

}  // namespace hyphos::gateway::rosbridge
