#include <map>
#include <utility>

#include "node/sync/matcher.hpp"

namespace hyphos::sync {
namespace {

/// Sets of equal stamps. A complete set drops every incomplete one with an earlier stamp. Beyond
/// SyncOptions::queue incomplete sets, the one with the earliest stamp is dropped. These are the
/// rules of the policy ExactTime of ROS's message_filters.
class Exact final : public Matcher {
 public:
  Exact(std::size_t channels, const SyncOptions& options)
      : Matcher(channels), queue_(options.queue) {}

 private:
  void accept(std::size_t channel, std::int64_t stamp_ns, Message message) override {
    const auto at = partial_.try_emplace(stamp_ns, Set(channels())).first;
    Message& place = at->second[channel];
    if (place != nullptr) lose(channel, Unmatched::repeated, std::move(place));
    place = std::move(message);
    bool complete = true;
    for (const Message& each : at->second) complete = complete && each != nullptr;
    if (complete) {
      Set set = std::move(at->second);
      partial_.erase(at);
      drop_before(partial_.upper_bound(stamp_ns), Unmatched::incomplete);
      emit(std::move(set));
    }
    while (partial_.size() > queue_) {
      drop_before(std::next(partial_.begin()), Unmatched::queue_full);
    }
  }
  void drop_all(Unmatched why) override { drop_before(partial_.end(), why); }

  void drop_before(std::map<std::int64_t, Set>::iterator end, Unmatched why) {
    for (auto at = partial_.begin(); at != end; at = partial_.erase(at)) {
      for (std::size_t channel = 0; channel < channels(); ++channel) {
        Message& message = at->second[channel];
        if (message != nullptr) lose(channel, why, std::move(message));
      }
    }
  }

  const std::size_t queue_;
  std::map<std::int64_t, Set> partial_;  // by stamp
};

}  // namespace

std::unique_ptr<Matcher> make_exact(std::size_t channels, const SyncOptions& options) {
  return std::make_unique<Exact>(channels, options);
}

}  // namespace hyphos::sync
