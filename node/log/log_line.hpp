#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/codec.hpp"

namespace hyphos::log {

inline constexpr std::size_t kMaxText = 4096;
inline constexpr std::size_t kMaxName = 256;

/// One hyphos.msgs.Log (proto/hyphos/msgs/log.proto).
struct Line {
  std::int64_t stamp_ns = 0;
  Level level = Level::info;
  std::string name;
  std::string text;
  std::string file;
  std::string function;
  std::uint32_t line = 0;
};

[[nodiscard]] TypeId line_type();
[[nodiscard]] Buffer encode(const Line& line);

/// At most `limit` bytes of valid UTF-8. Invalid bytes become '?'. A truncated text ends with the
/// number of missing bytes.
[[nodiscard]] std::string bounded_text(std::string_view text, std::size_t limit);

}  // namespace hyphos::log
