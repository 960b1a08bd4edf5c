#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "hyphos/result.hpp"

namespace hyphos::gateway::rosbridge {

/// {"op":"png","data":…}: JSON as the pixels of an image, which compresses it. Browsers decode it
/// one byte to a character, so the JSON has to be ASCII. Cost: a run of deflate.
[[nodiscard]] std::string png_message(std::string_view ascii_json);

/// The JSON in the `data` of such a message: the bytes of the pixels of a PNG file in base64,
/// without the white space that fills its last row. Of gray and of RGB pixels each byte, of RGBA
/// all but the alpha, as roslibjs reads them. Takes memory for `limit` bytes at most, beside the
/// file. Errors: corrupt (no such file, or its checksums are wrong), unsupported (other pixels),
/// exhausted (pixels of more than `limit` bytes).
[[nodiscard]] Result<std::string> json_of_png(std::string_view base64, std::size_t limit);

}  // namespace hyphos::gateway::rosbridge
