#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hyphos::gateway {

/// Writes base64 piece by piece (RFC 4648, with padding). Cost: about one memory pass.
class Base64Writer {
 public:
  explicit Base64Writer(std::string& out) : out_(out) {}
  void write(std::span<const std::byte> bytes);
  void end();

 private:
  std::string& out_;
  std::byte kept_[3] = {};  // fewer than three bytes that wait for more
  std::size_t count_ = 0;
};

/// The number of bytes that `text` encodes, if it is base64. Padding may be missing.
[[nodiscard]] std::size_t base64_size(std::string_view text);

/// Writes base64_size(text) bytes. Returns false if the text is not base64. Blanks are not allowed.
[[nodiscard]] bool decode_base64(std::string_view text, std::byte* out);

}  // namespace hyphos::gateway
