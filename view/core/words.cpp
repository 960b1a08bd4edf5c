#include "view/core/words.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace hyphos::view {
namespace {

constexpr std::size_t kLongestWord = 64;  // names beyond it are not compared
constexpr std::size_t kMostListed = 16;

// The number of insertions, deletions and replacements, by V. I. Levenshtein.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string> candidates) {
  std::string_view best;
  std::size_t least = 1 + word.size() / 3;
  if (word.size() > kLongestWord) return best;
  for (const std::string& each : candidates) {
    if (each.size() > kLongestWord) continue;
    const std::size_t far = distance(word, each);
    if (far <= least && (best.empty() || far < least)) {
      best = each;
      least = far;
    }
  }
  return best;
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
