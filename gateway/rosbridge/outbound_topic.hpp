#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.hpp"
#include "gateway/rosbridge/context.hpp"
#include "gateway/rosbridge/stream_switch.hpp"

namespace hyphos::gateway::rosbridge {

enum class Compression : std::uint8_t { none, png, cbor, cbor_raw };

/// The settings of one `subscribe`. The messages of a topic go to a client once, so several
/// subscriptions are joined to settings that satisfy all.
struct Wish {
  Compression compression = Compression::none;
  std::int64_t throttle_ns = 0;
  std::uint32_t queue_length = 0;
  std::size_t fragment_size = SIZE_MAX;
};
/// Errors: corrupt, unsupported.
[[nodiscard]] Result<Wish> wish_of(const Request& request);

/// One topic that one client subscribes to.
///
/// Messages arrive on threads of the pool. All functions are called by the session's thread.
class OutboundTopic {
 public:
  static constexpr std::size_t kMaxIds = 256;

  /// `name` is the spelling of the client, because clients identify their topics by it.
  OutboundTopic(Context& context, std::string name, OutputClass output_class);
  ~OutboundTopic();
  OutboundTopic(const OutboundTopic&) = delete;
  OutboundTopic& operator=(const OutboundTopic&) = delete;

  /// An empty type means the previous type, or the type of the topic. After an error the object is
  /// unchanged. Errors: type_mismatch (the client uses another type for the topic), overloaded, and
  /// the errors of the graph facade.
  Result<void> subscribe(const std::string& id, const std::string& type, const Wish& wish);
  /// An empty id means all. Errors: not_found (no subscription has this id).
  Result<void> unsubscribe(const std::string& id);
  [[nodiscard]] bool empty() const { return wishes_.empty(); }
  /// Sends held messages that are due.
  void tick();

 private:
  using Wishes = std::map<std::string, Wish>;
  struct Held {
    Compression compression;
    Buffer bytes;
  };
  static Wish joined(const Wishes& wishes);
  Result<std::unique_ptr<ClientSubscription>> open(
      const std::string& type, Form form, std::function<void(const OutgoingMessage&)> callback);
  [[nodiscard]] Result<void> check_type(const std::string& type) const;
  /// Switches to the requested encoding. `again`: also send latched messages that were sent before.
  Result<void> follow(const std::string& type, Form form, bool again);
  /// Sends the latched messages for a further `subscribe`.
  Result<void> replay();
  void set(const Wish& wish);
  void take(std::uint64_t subscription, bool again, Form form, const OutgoingMessage& message);
  void deliver(Form form, const EncodedMessage& message) HYPHOS_REQUIRES(mutex_);
  void hold(Held held) HYPHOS_REQUIRES(mutex_);
  Held take_held() HYPHOS_REQUIRES(mutex_);
  void send(Compression compression, const EncodedMessage& message) HYPHOS_REQUIRES(mutex_);
  [[nodiscard]] Frame frame_of(Compression compression, const EncodedMessage& message) const;
  Result<std::vector<Frame>> in_pieces(Compression compression, const Buffer& json)
      HYPHOS_REQUIRES(mutex_);

  Context& context_;
  const std::string name_;
  const OutputClass output_class_;
  const Buffer json_head_;
  const Buffer cbor_head_;

  Wishes wishes_;
  Mutex mutex_;
  Wish wish_ HYPHOS_GUARDED_BY(mutex_);
  std::int64_t due_ns_ HYPHOS_GUARDED_BY(mutex_) = 0;  // earliest time of the next message
  std::deque<Held> held_ HYPHOS_GUARDED_BY(mutex_);    // counted in Context::held_bytes
  StreamSwitch stream_switch_ HYPHOS_GUARDED_BY(mutex_);
  // number of subscription_, or of the one that opens
  std::uint64_t newest_ HYPHOS_GUARDED_BY(mutex_) = 0;

  Form form_ = Form::json;    // of subscription_
  std::uint64_t opened_ = 0;  // number of subscriptions so far
  std::unique_ptr<ClientSubscription> subscription_;
  std::unique_ptr<ClientSubscription> old_;  ///< subscription_ takes over from it
  /// Gives a further `subscribe` the latched messages. It is done once it is open and a message has
  /// arrived.
  std::unique_ptr<ClientSubscription> replay_;
  std::atomic<bool> replayed_{false};
};

}  // namespace hyphos::gateway::rosbridge
