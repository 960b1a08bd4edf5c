#include "cosim/programs/periodic.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cosim/core/random.hpp"

namespace hyphos::cosim {

Periodic::Periodic(const Options& options)
    : options_(options), period_{std::llround(1e9 / options.rate_hz)} {
  for (NodeId node = 0; node < options_.nodes; ++node) {
    const auto phase = draw(options_.seed, node, 0, 0) % static_cast<std::uint64_t>(period_.ns);
    due_.push_back({{static_cast<std::int64_t>(phase)}, node, 0});
  }
  std::ranges::make_heap(due_, later);
}

Time Periodic::next_event_time() const { return due_.empty() ? kNever : due_.front().time; }

void Periodic::step(Time now, std::span<const Delivery> inbox, std::span<const Pose> /*poses*/,
                    Outbox& outbox) {
  read_ += inbox.size();
  while (!due_.empty() && due_.front().time <= now) {
    std::ranges::pop_heap(due_, later);
    Due& due = due_.back();
    std::vector<std::byte> bytes(options_.bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::byte>(std::uint64_t{due.node} * 31 + due.count * 7 + i);
    }
    NodeId to = kEveryone;
    if (!options_.everyone && options_.nodes > 1) {
      const auto others = static_cast<NodeId>(due.count % (options_.nodes - 1));
      to = (due.node + 1 + others) % options_.nodes;
    }
    outbox.send(due.node, to, Buffer::adopt(std::move(bytes)));
    ++sent_;
    due = {due.time + period_, due.node, due.count + 1};
    std::ranges::push_heap(due_, later);
  }
}

}  // namespace hyphos::cosim
