#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hyphos::gateway::ros1 {

/// Appends `text` so that any XML parser returns it unchanged. Characters that XML 1.0 cannot hold
/// (control characters, invalid UTF-8) become U+FFFD.
void append_escaped(std::string& out, std::string_view text);

void append_base64(std::string& out, std::string_view bytes);
/// Skips blanks, because writers break lines. nullopt if the text is not base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace hyphos::gateway::ros1
