#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace hyphos::gateway {

inline constexpr std::string_view kBase64Alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encode and decode the blocks of a long text with AVX2 or AVX-512, if the processor has them.
/// They are several times as fast as the table of pairs. Both return the amount processed, which is
/// 0 on other processors. The caller processes the rest.

/// Returns the number of encoded bytes: a multiple of 24. Writes 4 characters for each 3 bytes.
std::size_t encode_wide(std::span<const std::byte> bytes, char* out);

/// Returns the number of decoded characters: a multiple of 32. Stops before a block with a
/// character outside the alphabet. Writes 3 bytes for each 4 characters, and none beyond them.
std::size_t decode_wide(std::string_view text, std::byte* out);

}  // namespace hyphos::gateway
