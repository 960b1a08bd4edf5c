#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "base/brief_mutex.hpp"
#include "base/fork.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "graph/channel.hpp"
#include "hyphos/publisher.hpp"
#include "trace/record.hpp"

namespace hyphos::graph {

/// Never 0. Random, so that it is unique over all machines.
[[nodiscard]] std::uint64_t random_id();

/// The state of one publisher handle: its sequence, its identity and its counters.
class ChannelPublisher final : public detail::PublisherCore {
 public:
  ChannelPublisher(std::shared_ptr<Channel> channel, const TypeSupport& type, bool network,
                   std::unique_ptr<trace::Endpoint> trace);
  ~ChannelPublisher() override;

  detail::BlockRef block() override;
  Published publish(const detail::BlockRef& block) override;
  Published try_publish(const detail::BlockRef& block) override;
  Result<void> wait_for(std::uint32_t subscribers, Duration timeout) override;
  [[nodiscard]] bool has_remote() const override;
  [[nodiscard]] std::uint32_t listeners() const override;
  [[nodiscard]] bool has_room(std::size_t size) const override;
  WritableBuffer loan(std::size_t size) override;
  std::optional<Published> too_large(std::size_t size) override;
  [[nodiscard]] const std::string& channel() const override { return channel_->name(); }
  [[nodiscard]] std::uint64_t sender() const override { return sender_; }
  [[nodiscard]] std::optional<Error> ended() const override;

  /// Ends the publisher before its last reference is dropped. It sends nothing afterwards.
  /// Idempotent.
  void leave();
  /// Ends wait_for() in all threads, now and later, with `disconnected`.
  void end_waits();
  [[nodiscard]] bool network() const { return network_; }
  [[nodiscard]] trace::Endpoint& trace() { return *trace_; }
  /// `mask`: the transports with subscribers now. The bit for pointers is unchanged.
  void set_transports(std::uint32_t mask) {
    std::atomic<std::uint32_t>& now = (*trace_)->transports;
    now.store((now.load() & 1U) | mask);
  }

 private:
  /// Registers a waiting thread. False if end_waits() was called.
  [[nodiscard]] bool add_wait(const std::shared_ptr<ChannelWatcher>& waiter);
  [[nodiscard]] std::optional<Published> refuse_large(std::size_t size);
  /// publish(), or try_publish() if `wait` is false.
  template <bool wait>
  Published send(const detail::BlockRef& block);
  /// False if try_publish() of the message would have to wait.
  [[nodiscard]] bool has_room_for(const detail::Block& block) const;
  /// Returns the encoded size of the sent message.
  std::size_t publish_remote(detail::Block& block, Published& out);

  /// True if the publisher has been closed, or if this is a forked child. Nothing is sent then.
  [[nodiscard]] bool has_ended() const {
    return mark_.is_inherited() || left_.load(std::memory_order_relaxed);
  }

  const ForkMark mark_;
  const std::shared_ptr<Channel> channel_;
  const bool network_;
  const TypeSupport type_;  // of its blocks
  detail::BlockPool* const pool_;
  const std::unique_ptr<trace::Endpoint> trace_;
  const std::uint64_t sender_;
  std::atomic<std::uint64_t> sequence_{0};
  // Keeps sequence numbers in the order in which the messages leave the process. Not contended if
  // only one thread publishes.
  BriefMutex send_;
  std::atomic<bool> left_{false};  // set under send_
  Mutex waits_mutex_;
  bool waits_ended_ HYPHOS_GUARDED_BY(waits_mutex_) = false;
  std::vector<std::weak_ptr<ChannelWatcher>> waits_ HYPHOS_GUARDED_BY(waits_mutex_);
  log::OncePerSecond too_large_log_;
};

}  // namespace hyphos::graph
