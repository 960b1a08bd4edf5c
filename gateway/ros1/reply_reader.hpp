#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// Puts together the answer to a request from the pieces that come: a byte that says whether it is
/// one, a length, and so many bytes. ROS.NET leaves out the length of an answer, so that it is over
/// with the connection. (A lone string of it looks as if it had one, and is misread.)
class ReplyReader {
 public:
  explicit ReplyReader(std::size_t most) : most_(most) {}

  /// True if the answer is there, with its length. Errors: overloaded, corrupt (more came than it
  /// has).
  Result<bool> take(std::span<const std::byte> bytes);
  /// The answer, or the error that the server sent in its place. Errors: corrupt (the connection
  /// ended within it), io (what the server says).
  Result<Buffer> finish();
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  [[nodiscard]] std::optional<std::size_t> whole() const;

  std::size_t most_;
  std::vector<std::byte> bytes_;
};

}  // namespace hyphos::gateway::ros1
