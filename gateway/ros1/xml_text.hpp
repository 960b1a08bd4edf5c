#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hyphos::gateway::ros1 {

/// Appends `text` so that any XML parser takes it and gives it back: what XML 1.0 cannot carry
/// (control characters, broken UTF-8) becomes U+FFFD.
void append_escaped(std::string& out, std::string_view text);

void append_base64(std::string& out, std::string_view bytes);
/// Blanks are skipped, since writers break the lines. Nothing if it is not base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace hyphos::gateway::ros1
