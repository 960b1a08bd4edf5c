#include "gateway/rosbridge/stream_switch.hpp"

#include <algorithm>
#include <iterator>

namespace hyphos::gateway::rosbridge {

void StreamSwitch::begin(std::size_t depth) {
  over_ = false;
  depth_ = depth;
  opened_ns_ = INT64_MAX;
  meanwhile_.clear();
}

bool StreamSwitch::was_seen(const OutgoingMessage& replayed) const {
  const auto newest = std::ranges::find(newest_, replayed.sender, &Id::first);
  return newest != newest_.end() && replayed.sequence <= newest->second;
}

void StreamSwitch::note(const OutgoingMessage& message) {
  const auto newest = std::ranges::find(newest_, message.sender, &Id::first);
  if (newest != newest_.end()) {
    newest->second = std::max(newest->second, message.sequence);
  } else {
    if (newest_.size() >= kMost) newest_.pop_front();
    newest_.push_back(id_of(message));
  }
  if (over_) return;
  if (meanwhile_.size() >= kMost) meanwhile_.pop_front();
  meanwhile_.push_back(id_of(message));
}

std::vector<StreamSwitch::Given> StreamSwitch::end() {
  over_ = true;
  std::vector<Given> rest(std::make_move_iterator(waiting_.begin()),
                          std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  for (const Given& given : rest) note(given.message);
  return rest;
}

std::vector<StreamSwitch::Given> StreamSwitch::from_old(Given given, bool again) {
  const Id id = id_of(given.message);
  if (over_ || std::ranges::find(meanwhile_, id) != meanwhile_.end()) return {};
  if (given.message.replayed && !again && was_seen(given.message)) return {};
  const bool both_have_it = std::ranges::any_of(
      waiting_, [&](const Given& waiting) { return id_of(waiting.message) == id; });
  if (both_have_it || given.message.publish_ns >= opened_ns_) return end();
  note(given.message);
  return {std::move(given)};
}

std::vector<StreamSwitch::Given> StreamSwitch::from_new(Given given, bool again) {
  if (given.message.replayed) {
    if (!again && was_seen(given.message)) return {};
  } else if (std::erase(meanwhile_, id_of(given.message)) > 0) {
    // Both have delivered this message. For other senders the new subscription may be ahead.
    return end();
  } else if (!over_) {
    // copied, because others may wait for the memory of the original
    given.message.bytes = given.message.bytes.joined();
    waiting_.push_back(std::move(given));
    return waiting_.size() > depth_ ? end() : std::vector<Given>();
  }
  note(given.message);
  return {std::move(given)};
}

}  // namespace hyphos::gateway::rosbridge
