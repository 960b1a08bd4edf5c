#include "view/core/words.hpp"

#include <algorithm>
#include <vector>

#include "base/config.hpp"

namespace hyphos::view {
namespace {

constexpr std::size_t kMostListed = 16;

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string> candidates) {
  const std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return config::nearest(word, views);
}

std::string propose(std::string_view word, std::span<const std::string> candidates) {
  if (const std::string_view near = nearest_word(word, candidates); !near.empty()) {
    return " (did you mean '" + std::string(near) + "'?)";
  }
  if (candidates.empty()) return "";
  std::string list;
  for (std::size_t i = 0; i < std::min(candidates.size(), kMostListed); ++i) {
    list += (i == 0 ? "" : ", ") + candidates[i];
  }
  if (candidates.size() > kMostListed) list += ", …";
  return " (choices are: " + list + ")";
}

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

}  // namespace hyphos::view
