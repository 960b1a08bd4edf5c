#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "hyphos/result.hpp"

namespace hyphos::gateway::rosbridge {

/// Writes {"op":"png","data":…}: JSON as the pixels of an image, which compresses it. Browsers
/// decode one byte per character, so the JSON must be ASCII. Cost: one run of deflate.
[[nodiscard]] std::string png_message(std::string_view ascii_json);

/// Reads the JSON from the `data` of such a message: the pixel bytes of a base64 PNG file, without
/// the white space that fills its last row. As in roslibjs, all bytes of gray and RGB pixels count,
/// and all bytes of RGBA pixels except alpha. Allocates at most `limit` bytes besides the file.
/// Errors: corrupt (not a PNG file, or wrong checksums), unsupported (other pixel formats),
/// exhausted (pixels of more than `limit` bytes).
[[nodiscard]] Result<std::string> json_of_png(std::string_view base64, std::size_t limit);

}  // namespace hyphos::gateway::rosbridge
