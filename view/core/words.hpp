#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hyphos::view {

/// The most similar candidate to `word`, or "" if none is similar.
[[nodiscard]] std::string_view nearest_word(std::string_view word,
                                            std::span<const std::string> candidates);

/// " (did you mean 'x'?)", or " (choices are: a, b)" if nothing is near. At most 16 are listed.
[[nodiscard]] std::string propose(std::string_view word, std::span<const std::string> candidates);

/// 1234567 as "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t number);

}  // namespace hyphos::view
