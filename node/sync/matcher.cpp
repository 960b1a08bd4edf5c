#include "node/sync/matcher.hpp"

#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace hyphos::sync {

void Matcher::add(std::size_t channel, std::int64_t stamp_ns, Message message, Outcome& out) {
  out_ = &out;
  ++counts_[channel].received;
  accept(channel, stamp_ns, std::move(message));
}

void Matcher::clear(Unmatched why, Outcome& out) {
  out_ = &out;
  drop_all(why);
}

std::uint64_t Matcher::waiting(std::size_t channel) const {
  const Counts& counts = counts_[channel];
  return std::accumulate(counts.unmatched.begin(), counts.unmatched.end(),
                         counts.received - counts.matched, std::minus<>());
}

void Matcher::lose(std::size_t channel, Unmatched why, Message message) {
  ++counts_[channel].unmatched[static_cast<std::size_t>(why)];
  out_->lost.push_back({channel, why, std::move(message)});
}

void Matcher::emit(Set set) {
  for (Counts& counts : counts_) ++counts.matched;
  out_->sets.push_back(std::move(set));
}

std::unique_ptr<Matcher> make_matcher(std::size_t channels, const SyncOptions& options) {
  return options.rule == SyncRule::exact ? make_exact(channels, options)
                                         : make_approximate(channels, options);
}

std::string problem_of(std::size_t channels, const SyncOptions& options) {
  if (channels < 2 || channels > kMaxSyncChannels) {
    return "it has " + std::to_string(channels) + " channels. Give 2 to " +
           std::to_string(kMaxSyncChannels);
  }
  if (options.queue < 1 || options.queue > kMaxSyncQueue) {
    return "queue is " + std::to_string(options.queue) + ". Give 1 to " +
           std::to_string(kMaxSyncQueue);
  }
  if (options.max_interval.ns < 0) return "max_interval is negative. Give 0 or more";
  if (!(options.age_penalty >= 0 && options.age_penalty <= 1e6)) {
    return "age_penalty is out of range. Give 0 to 1,000,000";
  }
  if (!options.min_spacing.empty() && options.min_spacing.size() != channels) {
    return "min_spacing has " + std::to_string(options.min_spacing.size()) +
           " values. Give one for each of the " + std::to_string(channels) + " channels, or none";
  }
  for (const Duration spacing : options.min_spacing) {
    if (spacing.ns < 0) return "a min_spacing is negative. Give 0 or more";
  }
  const SyncOptions defaults;
  if (options.rule == SyncRule::exact &&
      (options.max_interval != defaults.max_interval || !options.min_spacing.empty() ||
       options.age_penalty != defaults.age_penalty)) {
    return "max_interval, age_penalty and min_spacing have no effect on exact sets. Remove them, "
           "or "
           "choose the approximate rule";
  }
  return {};
}

}  // namespace hyphos::sync
