#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// Assembles the reply to a request from the pieces that arrive: a success byte, a length, and that
/// many bytes. ROS.NET omits the length of a reply, so the reply ends with the connection. (A lone
/// string from ROS.NET looks as if it had a length and is misread.)
class ReplyReader {
 public:
  explicit ReplyReader(std::size_t most) : most_(most) {}

  /// Returns true when a reply with a length is complete. Errors: overloaded, corrupt (more bytes
  /// than the length).
  Result<bool> take(std::span<const std::byte> bytes);
  /// The reply, or the error that the server sent instead. Errors: corrupt (the connection ended in
  /// the middle), io (with the server's text).
  Result<Buffer> finish();
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  [[nodiscard]] std::optional<std::size_t> whole() const;

  std::size_t most_;
  std::vector<std::byte> bytes_;
};

}  // namespace hyphos::gateway::ros1
