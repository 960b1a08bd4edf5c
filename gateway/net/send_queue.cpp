#include "gateway/net/send_queue.hpp"

#include <algorithm>
#include <cassert>

namespace hyphos::gateway::net {

Message SendQueue::take(Lane& lane) {
  Message message = std::move(lane.messages.front());
  lane.messages.pop_front();
  lane.bytes -= message.size();
  bytes_ -= message.size();
  --count_;
  return message;
}

SendQueue::Lane* SendQueue::heaviest() {
  const auto found = std::max_element(
      lanes_.begin(), lanes_.end(),
      [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
  return found == lanes_.end() || found->second.messages.empty() ? nullptr : &found->second;
}

bool SendQueue::push(Key key, Message message, std::vector<Message>& dropped, std::size_t depth) {
  const std::size_t size = message.size();
  if (size > limits_.bytes) {
    dropped.push_back(std::move(message));
    return false;
  }
  Lane* lane = &control_;
  if (key != kControl) {
    const auto [place, made] = lanes_.try_emplace(key);
    if (made) turn_.push_back(key);
    lane = &place->second;
    const std::size_t most = depth == 0 ? limits_.depth : depth;
    while (!lane->messages.empty() && lane->messages.size() >= most) {
      dropped.push_back(take(*lane));
    }
  }
  while (bytes_ + size > limits_.bytes) {
    Lane* heavy = heaviest();
    if (heavy == nullptr) {
      dropped.push_back(std::move(message));
      return false;
    }
    dropped.push_back(take(*heavy));
  }
  lane->messages.push_back(std::move(message));
  lane->bytes += size;
  bytes_ += size;
  ++count_;
  return true;
}

Message SendQueue::pop() {
  assert(!empty());
  if (!control_.messages.empty()) return take(control_);
  while (true) {
    const Key key = turn_.front();
    turn_.pop_front();
    const auto found = lanes_.find(key);
    if (found->second.messages.empty()) {
      lanes_.erase(found);
      continue;
    }
    Message message = take(found->second);
    if (found->second.messages.empty()) {
      lanes_.erase(found);
    } else {
      turn_.push_back(key);
    }
    return message;
  }
}

}  // namespace hyphos::gateway::net
