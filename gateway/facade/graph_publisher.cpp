#include "gateway/facade/graph_publisher.hpp"

#include <utility>

namespace hyphos::gateway {

GraphPublisher::GraphPublisher(Setup setup, RawPublisher publisher, const Policy& policy)
    : setup_(std::move(setup)),
      publisher_(std::move(publisher)),
      waits_(policy.overflow == Overflow::block),
      patience_ns_(Duration::from_ms(policy.block_timeout_ms).ns),
      pace_(policy.depth) {
  setup_.registry->add_publisher(publisher_.sender(), publisher_.channel(), setup_.client);
}

GraphPublisher::~GraphPublisher() {
  if (kept_ && waits_) setup_.clients.count(setup_.client, "closed", publisher_.channel());
  // flush() would have published it within milliseconds
  if (kept_ && !waits_) (void)publish(kept_->message);
  setup_.registry->remove_publisher(publisher_.sender(), publisher_.channel(), setup_.client);
}

Result<void> GraphPublisher::publish(std::span<const std::byte> message, const DecodeHint& within) {
  if (auto let = setup_.clients.take(setup_.client, *setup_.quota, publisher_.channel()); !let) {
    return let;
  }
  // A slot in shared memory may need a wait too.
  const bool room = has_room(message.size());
  const auto lend = [&](std::size_t size) {
    return room ? publisher_.loan_bytes(size) : WritableBuffer::on_heap(size);
  };
  auto made = setup_.codec.read(setup_.form, message, lend, setup_.clock.now().ns, within);
  if (!made) {
    setup_.clients.count(setup_.client, "corrupt", made.error().message);
    return made.error();
  }
  if (!waits_ && !setup_.spread) return publish(*made);
  if (!waits_) return publish_paced(*std::move(made), message.size(), within.arrived);
  const MutexLock lock(mutex_);
  if (room && !kept_) return publish(*made);
  if (!kept_) {
    kept_ = {*std::move(made), message.size(), monotonic_now().ns};
    return success();
  }
  // The caller does not pause its client, so this call blocks.
  const Kept before = *std::exchange(kept_, std::nullopt);
  auto first = publish(before.message);
  auto second = publish(*made);
  return first ? second : first;
}

Result<void> GraphPublisher::publish_paced(RawMessage message, std::size_t size, Time arrived) {
  const MutexLock lock(mutex_);
  const bool room = publisher_.has_room(size);
  const std::int64_t now_ns = monotonic_now().ns;
  const std::int64_t arrived_ns = arrived.ns == 0 ? now_ns : arrived.ns;
  if (!kept_ && pace_.lets(now_ns, arrived_ns, room)) return publish_counted(message, room);
  if (!kept_) {
    kept_ = {std::move(message), size, monotonic_now().ns};
    return success();
  }
  // The caller does not pause its client, so the burst is not spread.
  const Kept before = *std::exchange(kept_, std::nullopt);
  auto first = publish_counted(before.message, room);
  auto second = publish_counted(message, room);
  return first ? second : first;
}

Result<bool> GraphPublisher::flush_paced() {
  const bool room = publisher_.has_room(kept_->size);
  if (!pace_.lets_waiting(monotonic_now().ns, room)) return false;
  const Kept kept = *std::exchange(kept_, std::nullopt);
  if (const auto published = publish_counted(kept.message, room); !published) {
    return published.error();
  }
  return true;
}

Result<void> GraphPublisher::publish_counted(const RawMessage& message, bool room) {
  if (!room) {
    ++overruns_;
    setup_.clients.count(setup_.client, "slow_subscriber", publisher_.channel());
  }
  return publish(message);
}

std::uint64_t GraphPublisher::overruns() const {
  const MutexLock lock(mutex_);
  return overruns_;
}

bool GraphPublisher::keeps() const {
  const MutexLock lock(mutex_);
  return kept_.has_value();
}

Result<bool> GraphPublisher::flush() {
  const MutexLock lock(mutex_);
  if (!kept_) return true;
  if (!waits_) return flush_paced();
  if (publisher_.has_room(kept_->size)) {
    const Kept kept = *std::exchange(kept_, std::nullopt);
    if (const auto published = publish(kept.message); !published) return published.error();
    return true;
  }
  if (patience_ns_ == 0 || monotonic_now().ns - kept_->since_ns < patience_ns_) return false;
  kept_.reset();
  setup_.clients.count(setup_.client, "timeout", publisher_.channel());
  return Error{Code::timeout,
               "the subscribers had no room within the blocking timeout of the channel",
               publisher_.channel()};
}

Result<void> GraphPublisher::publish(const RawMessage& message) const {
  const Published published = publisher_.publish(message.payload, message.buffers);
  if (published) return {};
  return Error{*published.failure, "the message could not be published", publisher_.channel()};
}

WritableBuffer GraphPublisher::loan(std::size_t size) {
  return setup_.codec.keeps(size) && has_room(size) ? publisher_.loan_bytes(size)
                                                    : WritableBuffer();
}

}  // namespace hyphos::gateway
