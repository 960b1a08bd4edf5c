#include "view/sources/inbox.hpp"

#include <algorithm>
#include <utility>

#include "hyphos/time.hpp"

namespace hyphos::view {

std::size_t bytes_of(const Sample& sample) {
  std::size_t bytes = sizeof(Sample) + sample.payload.size();
  for (const Buffer& buffer : sample.buffers) bytes += buffer.size();
  return bytes;
}

void Inbox::on_arrival(std::function<void()> wake) {
  const MutexLock lock(mutex_);
  wake_ = std::move(wake);
}

void Inbox::wake() {
  std::function<void()> wake;
  {
    const MutexLock lock(mutex_);
    wake = wake_;
  }
  if (wake) wake();
}

// As the recorder counts them. A number that is not greater than the last one belongs to a latched
// value sent again.
void Inbox::count_gap(Lane& lane, const Sample& sample) {
  if (sample.sequence == 0) return;
  if (lane.last.size() >= kMaxSenders && !lane.last.contains(sample.sender)) lane.last.clear();
  const auto [at, fresh] = lane.last.try_emplace(sample.sender, sample.sequence);
  if (fresh) return;
  if (sample.sequence > at->second + 1) lane.loss.missing += sample.sequence - at->second - 1;
  at->second = std::max(at->second, sample.sequence);
}

void Inbox::put(std::uint32_t channel, const Message<RawMessage>& message) {
  Sample sample;
  sample.channel = channel;
  sample.sender = message.sender();
  sample.sequence = message.sequence();
  sample.stamps = message.stamps();
  const std::int64_t arrived =
      sample.stamps.arrived != 0 ? sample.stamps.arrived : monotonic_now().ns;
  sample.time_ns = arrived + offset_ns_;
  if (sample.stamps.publish != 0) sample.publish_ns = sample.stamps.publish + offset_ns_;
  sample.payload = Buffer::copy_of(message->payload.bytes());
  for (const Buffer& buffer : message->buffers) {
    sample.buffers.push_back(Buffer::copy_of(buffer.bytes()));
  }
  const std::size_t bytes = bytes_of(sample);
  std::function<void()> wake;
  {
    const MutexLock lock(mutex_);
    if (channel >= lanes_.size()) lanes_.resize(channel + std::size_t{1});
    Lane& lane = lanes_[channel];
    ++lane.loss.received;
    count_gap(lane, sample);
    while (!lane.waiting.empty() &&
           (lane.waiting.size() >= kMaxMessages || lane.bytes + bytes > kMaxBytes)) {
      lane.bytes -= bytes_of(lane.waiting.front());
      lane.waiting.pop_front();
      ++lane.loss.dropped;
    }
    lane.waiting.push_back(std::move(sample));
    lane.bytes += bytes;
    if (!std::exchange(signalled_, true)) wake = wake_;
  }
  if (wake) wake();
}

std::vector<Sample> Inbox::take() {
  std::vector<Sample> out;
  {
    const MutexLock lock(mutex_);
    signalled_ = false;
    for (Lane& lane : lanes_) {
      std::move(lane.waiting.begin(), lane.waiting.end(), std::back_inserter(out));
      lane.waiting.clear();
      lane.bytes = 0;
    }
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; });
  return out;
}

Loss Inbox::loss(std::uint32_t channel) const {
  const MutexLock lock(mutex_);
  return channel < lanes_.size() ? lanes_[channel].loss : Loss{};
}

}  // namespace hyphos::view
