#include "gateway/types/rules.hpp"

#include <algorithm>

#include "gateway/types/client.hpp"

namespace hyphos::gateway {

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  // position of the last star, and the present end of its match
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*') {
      ++p;
      ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool Names::let(std::string_view name) const {
  const auto named = [&](const std::string& pattern) { return matches(pattern, name); };
  return std::any_of(allow.begin(), allow.end(), named) &&
         std::none_of(deny.begin(), deny.end(), named);
}

const Rules& Rules::of(const Client& client) const {
  const auto found = std::ranges::find_if(clients, [&](const ClientRules& one) {
    return matches(one.pattern, client.name) && (one.tokens.empty() || one.tokens == client.token);
  });
  return found == clients.end() ? *this : found->rules;
}

Patterns::Patterns(std::string_view text, Slash slash) : slash_(slash) {
  constexpr std::string_view kSeparators = ", \t\n";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kSeparators), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool takes_out = word.starts_with('!');
    if (takes_out) word.remove_prefix(1);
    word = plain(word);
    if (!word.empty()) patterns_.push_back({std::string(word), takes_out});
  }
}

bool Patterns::match(std::string_view name) const {
  const auto last = std::find_if(patterns_.rbegin(), patterns_.rend(), [&](const Pattern& pattern) {
    return matches(pattern.text, plain(name));
  });
  return last != patterns_.rend() && !last->takes_out;
}

std::string_view Patterns::plain(std::string_view name) const {
  return slash_ == Slash::ignored && name.starts_with('/') ? name.substr(1) : name;
}

bool RateLimit::take(std::int64_t now_ns) {
  if (rate_hz_ <= 0) return true;
  const double passed = static_cast<double>(now_ns - last_ns_) * 1e-9;
  last_ns_ = now_ns;
  left_ = std::min(std::max(1.0, rate_hz_), left_ + std::max(0.0, passed) * rate_hz_);
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

}  // namespace hyphos::gateway
