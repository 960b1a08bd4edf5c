#pragma once

#include <string>
#include <string_view>

namespace hyphos::gateway::rosbridge {

/// {"op":"png","data":…}: JSON as the pixels of an image, which compresses it. Browsers decode it
/// one byte to a character, so the JSON has to be ASCII. Cost: a run of deflate.
[[nodiscard]] std::string png_message(std::string_view ascii_json);

}  // namespace hyphos::gateway::rosbridge
