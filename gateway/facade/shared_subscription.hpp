#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/latched_cache.hpp"
#include "base/mutex.hpp"
#include "gateway/facade/topics.hpp"
#include "gateway/types/types.hpp"
#include "hyphos/node.hpp"

namespace hyphos::gateway {

using Hear = std::function<void(const OutgoingMessage&)>;
using Complain = std::function<void(const Error&)>;  ///< called if a message cannot be converted
/// The group of the client whose client publisher has this sender number. An empty name: the client
/// has no group. nullopt: the sender is no client.
using GroupOf = std::function<std::optional<std::string>(std::uint64_t sender)>;

/// The number of publishers of a channel per process of this machine, by Meta::peer.
using PublishersNow = std::function<std::map<std::uint64_t, std::size_t>()>;

/// True if the sender number belonged to a client publisher that is closed.
using HasEnded = std::function<bool(std::uint64_t sender)>;

/// One subscription to a channel with one encoding. All clients with the same needs share it, so
/// each message is converted once. Thread-safe.
class SharedSubscription : public std::enable_shared_from_this<SharedSubscription> {
 public:
  /// Maximum number of remembered publishers of a latched channel. Beyond it, the publisher that
  /// was silent for longest is forgotten.
  static constexpr std::size_t kMost = 256;
  /// Messages kept for one process that has fewer publishers now.
  static constexpr std::size_t kDoubt = 16;

  /// One client of a shared subscription. It ends with its handle.
  class Listener {
   public:
    Listener(std::string group, Hear on_message)
        : group_(std::move(group)), hear_(std::make_shared<const Hear>(std::move(on_message))) {}
    void notify(const OutgoingMessage& message);
    /// False for messages of its own group.
    [[nodiscard]] bool wants(const std::string& group) const {
      return group_.empty() || group_ != group;
    }
    [[nodiscard]] const std::string& group() const { return group_; }
    /// After it returns, no callback runs, unless close() was called from inside tell().
    void close();

   private:
    const std::string group_;
    std::recursive_mutex mutex_;
    std::shared_ptr<const Hear> hear_;  // null: closed
  };

  SharedSubscription(const ChannelCodec& codec, TypeInfo type, Form form, GroupOf group_of,
                     HasEnded has_ended, PublishersNow now, Complain log_error)
      : codec_(codec),
        type_(std::move(type)),
        form_(form),
        group_of_(std::move(group_of)),
        has_ended_(std::move(has_ended)),
        publishers_now_(std::move(now)),
        complain_(std::move(log_error)) {}
  ~SharedSubscription() { subscription_.close(); }
  SharedSubscription(const SharedSubscription&) = delete;
  SharedSubscription& operator=(const SharedSubscription&) = delete;

  /// Opens the subscription. A later listener gets the last message of every living latched
  /// publisher, as one message if the type can be joined. `keeps`: the channel is known to be
  /// latched.
  Result<void> open(const Node& node, const std::string& channel,
                    const ClientSubscriptionOptions& options, bool keeps);
  void add(std::shared_ptr<Listener> listener) HYPHOS_EXCLUDES(mutex_);
  void remove(const std::shared_ptr<Listener>& listener) HYPHOS_EXCLUDES(mutex_);
  [[nodiscard]] const TypeInfo& type() const { return type_; }

 private:
  /// The last message of one publisher of a latched channel.
  struct Last {
    std::uint64_t sender = 0;
    std::uint64_t peer = 0;
    std::string group;
    Buffer payload;  // only for messages that are joined, otherwise `leaving` holds the content
    OutgoingMessage outgoing;
    static std::uint64_t sender_of(const Last& last) { return last.sender; }
  };

  void on_message(const Message<RawMessage>& message) HYPHOS_EXCLUDES(mutex_);
  /// For a latched channel with joined messages: each listener gets the last messages of all
  /// publishers outside its own group.
  void hear_joined(const Message<RawMessage>& message, const std::string& group)
      HYPHOS_EXCLUDES(mutex_);
  /// The messages that a new listener gets first, oldest first.
  [[nodiscard]] std::vector<OutgoingMessage> kept_for(const Listener& listener)
      HYPHOS_REQUIRES(mutex_);
  /// All kept messages except those of `group`, joined to one protobuf payload. Empty if there are
  /// none.
  [[nodiscard]] Buffer joined_without(const std::string& group) const HYPHOS_REQUIRES(mutex_);
  /// Forgets the messages that are older than the lifespan.
  void forget_expired() HYPHOS_REQUIRES(mutex_);
  /// Forgets the messages of publishers that are gone.
  void forget_gone(const std::map<std::uint64_t, std::size_t>& now) HYPHOS_REQUIRES(mutex_);

  const ChannelCodec& codec_;
  const TypeInfo type_;
  const Form form_;
  const GroupOf group_of_;
  const HasEnded has_ended_;
  const PublishersNow publishers_now_;
  const Complain complain_;
  Mutex mutex_;
  Subscription subscription_ HYPHOS_GUARDED_BY(mutex_);
  std::int64_t lifespan_ns_ HYPHOS_GUARDED_BY(mutex_) = 0;  // 0: no limit
  std::vector<std::shared_ptr<Listener>> listeners_ HYPHOS_GUARDED_BY(mutex_);
  LatchedCache<Last, Last::sender_of, kMost> last_ HYPHOS_GUARDED_BY(mutex_);
};

/// The open shared subscriptions, by their parameters.
class SharedSubscriptions {
 public:
  // channel, type, encoding, depth, lifespan
  using Key = std::tuple<std::string, std::string, Form, std::uint32_t, std::int64_t>;
  /// Returns the shared subscription of that key, and opens it with `open` if there is none.
  Result<std::shared_ptr<SharedSubscription>> get(
      const Key& key, const std::function<Result<std::shared_ptr<SharedSubscription>>()>& open);

 private:
  Mutex mutex_;
  std::map<Key, std::weak_ptr<SharedSubscription>> shared_subscriptions_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::gateway
