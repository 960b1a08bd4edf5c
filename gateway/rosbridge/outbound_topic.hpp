#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "gateway/rosbridge/context.hpp"
#include "gateway/rosbridge/stream_switch.hpp"

namespace hyphos::gateway::rosbridge {

enum class Compression : std::uint8_t { none, png, cbor, cbor_raw };

/// What one `subscribe` asks for; a topic's messages go to a client once, so that several of them
/// are joined to what satisfies all.
struct Wish {
  Compression compression = Compression::none;
  std::int64_t throttle_ns = 0;
  std::uint32_t queue_length = 0;
  std::size_t fragment_size = SIZE_MAX;
};
/// Errors: corrupt, unsupported.
[[nodiscard]] Result<Wish> wish_of(const Request& request);

/// What one client gets of one topic.
///
/// Its messages come on threads of the pool; all else is called by the session's thread.
class OutboundTopic {
 public:
  static constexpr std::size_t kMaxIds = 256;

  /// `name` as the client wrote it, since clients know their topics by that.
  OutboundTopic(Context& context, std::string name, OutputClass output_class);
  ~OutboundTopic();
  OutboundTopic(const OutboundTopic&) = delete;
  OutboundTopic& operator=(const OutboundTopic&) = delete;

  /// An empty type: as before, or that of the topic. On an error the feed is as it was. Errors:
  /// type_mismatch (the client has it as another type), overloaded, and those of the door.
  Result<void> subscribe(const std::string& id, const std::string& type, const Wish& wish);
  /// An empty id: all. Errors: not_found (the id never subscribed).
  Result<void> unsubscribe(const std::string& id);
  [[nodiscard]] bool empty() const { return wishes_.empty(); }
  /// Sends what was held back and is due.
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
  /// From now on in the form that is wished. `again`: also what is latched and was given before.
  Result<void> follow(const std::string& type, Form form, bool again);
  /// For a further `subscribe`: what is latched.
  Result<void> replay();
  void set(const Wish& wish);
  void take(std::uint64_t subscription, bool again, Form form, const OutgoingMessage& message);
  void deliver(Form form, const EncodedMessage& message);
  /// Both under mutex_.
  void hold(Held held);
  Held take_held();
  void send(Compression compression, const EncodedMessage& message);
  [[nodiscard]] Frame frame_of(Compression compression, const EncodedMessage& message) const;
  Result<std::vector<Frame>> in_pieces(Compression compression, const Buffer& json);

  Context& context_;
  const std::string name_;
  const OutputClass output_class_;
  const Buffer json_head_;
  const Buffer cbor_head_;

  Wishes wishes_;
  std::mutex mutex_;
  Wish wish_;                   // under mutex_
  std::int64_t due_ns_ = 0;     // under mutex_; when the next may be sent
  std::deque<Held> held_;       // under mutex_; counted in Context::held_bytes
  StreamSwitch stream_switch_;  // under mutex_
  std::uint64_t newest_ = 0;    // under mutex_; the number of outlet_, or of the one that opens

  Form form_ = Form::json;    // of outlet_
  std::uint64_t opened_ = 0;  // outlets so far
  std::unique_ptr<ClientSubscription> subscription_;
  std::unique_ptr<ClientSubscription> old_;  ///< outlet_ takes over from it
  /// A further `subscribe` gets what is latched, too: from an outlet of its own, which has done its
  /// work once it is open, if something came.
  std::unique_ptr<ClientSubscription> replay_;
  std::atomic<bool> replayed_{false};
};

}  // namespace hyphos::gateway::rosbridge
