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

#include "gateway/facade/graph_facade.hpp"
#include "gateway/types/types.hpp"
#include "hyphos/node.hpp"

namespace hyphos::gateway {

using Hear = std::function<void(const OutgoingMessage&)>;
using Complain = std::function<void(const Error&)>;  ///< a message could not be converted
/// The group of the client whose inlet sends under this number; empty: none. Nothing: it is no
/// client's.
using GroupOf = std::function<std::optional<std::string>(std::uint64_t sender)>;

/// How many publishers the processes of this machine have for a channel, by Meta::peer.
using PublishersNow = std::function<std::map<std::uint64_t, std::size_t>()>;

/// Whether it is the sender of a client's inlet that has gone.
using HasEnded = std::function<bool(std::uint64_t sender)>;

/// One subscription to a channel, converted to one form, for all clients that want just that: each
/// message is converted once. Thread-safe.
class SharedSubscription : public std::enable_shared_from_this<SharedSubscription> {
 public:
  /// Publishers of a latched channel; then who has said nothing for longest is forgotten.
  static constexpr std::size_t kMost = 256;
  /// Messages that are kept of one process that has fewer publishers now.
  static constexpr std::size_t kDoubt = 16;

  /// One client of a tap. Ends with its handle.
  class Listener {
   public:
    Listener(std::string group, Hear on_message)
        : group_(std::move(group)), hear_(std::make_shared<const Hear>(std::move(on_message))) {}
    void notify(const OutgoingMessage& message);
    /// False for what comes of its own group.
    [[nodiscard]] bool wants(const std::string& group) const {
      return group_.empty() || group_ != group;
    }
    [[nodiscard]] const std::string& group() const { return group_; }
    /// On return it is not being told anything, unless this is called from inside tell().
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

  /// A later listener gets the last message of every living latched publisher, as one message if
  /// the type can be joined. `keeps`: the channel is known to be latched.
  Result<void> open(const Node& node, const std::string& channel, std::uint32_t depth, bool keeps);
  void add(std::shared_ptr<Listener> listener);
  void remove(const std::shared_ptr<Listener>& listener);
  [[nodiscard]] const TypeInfo& type() const { return type_; }

 private:
  /// What a publisher of a latched channel said last.
  struct Last {
    std::uint64_t sender = 0;
    std::uint64_t peer = 0;
    std::string group;
    Buffer payload;  // of messages that are joined, else its leaving has what counts
    OutgoingMessage outgoing;
  };

  void on_message(const Message<RawMessage>& message);
  /// Of a latched channel whose messages are joined: each listener is told what all but its own
  /// group have said.
  void hear_joined(const Message<RawMessage>& message, const std::string& group);
  /// What a listener that comes now has to hear first, the oldest first; under the lock.
  [[nodiscard]] std::vector<OutgoingMessage> kept_for(const Listener& listener);
  /// All that is kept but what `group` said, as one payload in protobuf; empty: there is none.
  [[nodiscard]] Buffer joined_without(const std::string& group) const;
  void keep(Last last);
  /// Forgets what publishers said that have gone; under the lock.
  void forget_gone(const std::map<std::uint64_t, std::size_t>& now);

  const ChannelCodec& codec_;
  const TypeInfo type_;
  const Form form_;
  const GroupOf group_of_;
  const HasEnded has_ended_;
  const PublishersNow publishers_now_;
  const Complain complain_;
  Subscription subscription_;
  std::mutex mutex_;  // guards the members below
  std::vector<std::shared_ptr<Listener>> listeners_;
  std::vector<Last> last_;  // the oldest first
};

/// The taps that are open, by what they give.
class SharedSubscriptions {
 public:
  using Key = std::tuple<std::string, std::string, Form, std::uint32_t>;  // channel, type, …, depth
  /// The tap of that key, opened by `open` if there is none.
  Result<std::shared_ptr<SharedSubscription>> get(
      const Key& key, const std::function<Result<std::shared_ptr<SharedSubscription>>()>& open);

 private:
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<SharedSubscription>> shared_subscriptions_;
};

}  // namespace hyphos::gateway
