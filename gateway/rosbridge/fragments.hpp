#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/rosbridge/request.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::rosbridge {

/// Joins fragments, in any order. The number of incomplete messages is bounded: the oldest is
/// dropped.
class Fragments {
 public:
  static constexpr std::size_t kMaxMessages = 8;  // incomplete messages
  static constexpr std::int64_t kMaxPieces = std::int64_t{1} << 16;

  explicit Fragments(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Adds a piece. Returns the whole message if this was its last piece. Errors: corrupt (not a
  /// fragment, or another `total` than before), exhausted (larger than a message may be). After an
  /// error, the message is forgotten.
  Result<std::optional<std::string>> take(Request&& fragment);
  /// The number of incomplete messages dropped since the last call.
  [[nodiscard]] std::size_t dropped() { return std::exchange(dropped_, 0); }

 private:
  struct Message {
    std::string id;
    std::vector<std::optional<std::string>> pieces;
    std::size_t missing = 0;
    std::size_t bytes = 0;
  };
  void forget(const std::string& id);

  const std::size_t max_bytes_;
  std::deque<Message> messages_;  // oldest first
  std::size_t bytes_ = 0;         // of all messages
  std::size_t dropped_ = 0;
};

/// Splits a text into `fragment` messages, in order. Errors: out_of_range (more than kMaxPieces).
[[nodiscard]] Result<std::vector<std::string>> split(std::string_view text, std::size_t size,
                                                     std::string_view id);

}  // namespace hyphos::gateway::rosbridge
