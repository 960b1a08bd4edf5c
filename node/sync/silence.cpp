#include "node/sync/silence.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::sync {

std::string joined(const std::vector<std::string>& channels) {
  std::string text;
  for (const std::string& channel : channels) {
    text += (text.empty() ? "'" : ", '") + channel + "'";
  }
  return text;
}

Silence::Silence(std::vector<std::string> channels, const SyncOptions& options)
    : channels_(std::move(channels)), patience_(std::max<std::uint64_t>(options.queue, 10)) {}

std::string Silence::look(const Matcher& matcher, const Matcher::Outcome& out) {
  if (!out.sets.empty()) {
    lost_ = 0;
    warned_ = false;
    return {};
  }
  lost_ += out.lost.size();
  if (warned_ || lost_ < patience_) return {};
  warned_ = true;
  return text(matcher);
}

std::string Silence::text(const Matcher& matcher) const {
  std::string text = "the synchronizer of " + joined(channels_) + " has lost " +
                     std::to_string(lost_) + " messages without forming a set:";
  std::string missing;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const Matcher::Counts& counts = matcher.counts(i);
    text += (i == 0 ? " '" : ", '") + channels_[i] + "' " + std::to_string(counts.received) +
            " received";
    for (std::size_t why = 0; why < kUnmatchedReasons; ++why) {
      if (counts.unmatched[why] == 0) continue;
      text += ", " + std::to_string(counts.unmatched[why]) + " " +
              std::string(to_string(static_cast<Unmatched>(why)));
    }
    if (counts.received == 0) missing += (missing.empty() ? "'" : ", '") + channels_[i] + "'";
  }
  if (!missing.empty()) return text + ". Nothing arrives on " + missing + ": start its publisher";
  return text +
         ". Compare the stamps of the channels (hyphos channel echo), or allow a larger "
         "max_interval or queue";
}

}  // namespace hyphos::sync
