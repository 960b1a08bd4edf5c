#include "gateway/net/send_queue.hpp"

#include <algorithm>
#include <cassert>

namespace hyphos::gateway::net {

Message SendQueue::take(FlowQueue& flow) {
  Message message = std::move(flow.messages.front());
  flow.messages.pop_front();
  flow.bytes -= message.size();
  bytes_ -= message.size();
  --count_;
  return message;
}

SendQueue::FlowQueue* SendQueue::heaviest() {
  const auto found = std::max_element(
      flows_.begin(), flows_.end(),
      [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
  return found == flows_.end() || found->second.messages.empty() ? nullptr : &found->second;
}

bool SendQueue::push(Key key, Message message, std::vector<Message>& dropped, std::size_t depth) {
  const std::size_t size = message.size();
  if (size > limits_.bytes) {
    dropped.push_back(std::move(message));
    return false;
  }
  FlowQueue* flow = &control_;
  if (key != kControl) {
    const auto [place, made] = flows_.try_emplace(key);
    if (made) turn_.push_back(key);
    flow = &place->second;
    const std::size_t most = depth == 0 ? limits_.depth : depth;
    while (!flow->messages.empty() && flow->messages.size() >= most) {
      dropped.push_back(take(*flow));
    }
  }
  while (bytes_ + size > limits_.bytes) {
    FlowQueue* heavy = heaviest();
    if (heavy == nullptr) {
      dropped.push_back(std::move(message));
      return false;
    }
    dropped.push_back(take(*heavy));
  }
  flow->messages.push_back(std::move(message));
  flow->bytes += size;
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
    const auto found = flows_.find(key);
    if (found->second.messages.empty()) {
      flows_.erase(found);
      continue;
    }
    Message message = take(found->second);
    if (found->second.messages.empty()) {
      flows_.erase(found);
    } else {
      turn_.push_back(key);
    }
    return message;
  }
}

}  // namespace hyphos::gateway::net
