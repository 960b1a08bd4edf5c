#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "transport/zmq/sender.hpp"

/// The state of Sender. Used only by the source files of Sender.
namespace hyphos::transport::zmq {

/// A message ready to be sent to any number of receivers: its header (and a small body) as bytes,
/// and the parts of a large body as frames.
struct Sender::EncodedFrame {
  std::vector<std::byte> head;
  std::size_t submitted_at = 0;  // offset of the `handed` stamp in `head`. 0: none
  std::vector<Frame> frames;     // empty for a small body
  std::uint64_t bytes = 0;
  bool beyond = false;  // a replayed latched value, or a notice: needs no room in the queue
};

/// An encoded frame that moves to the heap only if some stream has to keep it.
struct Sender::Outgoing {
  EncodedFrame now;
  std::shared_ptr<EncodedFrame> kept;

  [[nodiscard]] EncodedFrame& encoded() { return kept ? *kept : now; }
  const std::shared_ptr<EncodedFrame>& keep() {
    if (!kept) kept = std::make_shared<EncodedFrame>(std::move(now));
    return kept;
  }
};

struct Sender::Port {
  explicit Port(SendEvents* events) : send_events(events) {}

  PortId id = 0;
  ChannelSpec spec;
  std::string key;
  std::vector<Stream*> streams;
  LatchedEnvelopes kept;

  Mutex calls;                                       // held during every call of the send events
  SendEvents* send_events HYPHOS_GUARDED_BY(calls);  // null once closed

  /// Encodes the header. Large bodies stay in place.
  void pack(const Envelope& message, EncodedFrame& out) const;
};

struct Sender::Stream {
  Subscriber* who = nullptr;
  std::uint32_t id = 0;
  std::string channel;
  TypeId type;
  std::uint32_t window_messages = 1;
  std::uint64_t window_bytes = 0;
  bool wants_reliable = false;
  std::string node;  // that subscribes, for errors. May be empty

  PortPtr port;  // null: no publisher of this name and type
  bool reliable = false;
  bool resumed = false;   // subscribed over the current connection
  bool accepted = false;  // and Accepted was sent. Until then, all messages wait in `queue`
  std::uint64_t sent = 0;
  std::uint64_t in_flight_bytes = 0;
  struct InFlight {
    std::uint64_t bytes = 0;
    std::shared_ptr<EncodedFrame> encoded;  // reliable only: for resending
  };
  std::deque<InFlight> in_flight;
  std::deque<std::shared_ptr<EncodedFrame>> queue;

  [[nodiscard]] std::uint64_t taken() const { return sent - in_flight.size(); }
  [[nodiscard]] bool has_room(std::size_t depth) const {
    return queue.size() < depth || waiting() < depth;
  }
  /// Messages in the queue that count towards its depth.
  [[nodiscard]] std::size_t waiting() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(queue, [](const auto& one) { return !one->beyond; }));
  }
  [[nodiscard]] bool reachable() const;
  [[nodiscard]] bool connected() const { return accepted && reachable(); }
  /// True if it counts as a receiver: it is reachable, or missed messages will be resent to it.
  [[nodiscard]] bool active() const { return reachable() || reliable; }
};

struct Sender::Subscriber {
  SubscriberName name;
  std::string process;
  std::uint64_t host = 0;
  std::string via;
  std::string connection;  // empty: disconnected
  /// The last connection. Its final messages may still be unread after it ended.
  std::string known_as;
  std::int64_t away_since_ns = 0;
  bool settled = true;  // false: just lost, its best-effort streams still hold messages
  std::map<std::uint32_t, Stream> streams;

  /// An ipc connection ends only with its process, so there is no return to wait for.
  [[nodiscard]] bool can_return() const { return !via.starts_with("ipc://"); }
};

inline bool Sender::Stream::reachable() const { return resumed && !who->connection.empty(); }

struct Sender::Notice {
  enum class Kind { listeners, dropped, refused, accept } kind;
  PortPtr port;
  Drop reason{};
  std::uint64_t count = 0;
  Error error;
  StreamName stream{};  // to accept
};

/// Calls of send events, collected under the lock and made without it.
class Sender::Notices {
 public:
  explicit Notices(Sender& sender) : sender_(sender) {}
  ~Notices() { fire(); }  // declared before the lock, so destroyed after it
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;

  void listeners(const PortPtr& port) { add({Notice::Kind::listeners, port, {}, 0, {}}); }
  void dropped(const PortPtr& port, Drop reason, std::uint64_t count) {
    if (count > 0) add({Notice::Kind::dropped, port, reason, count, {}});
  }
  void refused(const PortPtr& port, Error error) {
    add({Notice::Kind::refused, port, {}, 0, std::move(error)});
  }
  /// After listeners(): the graph then sends to the subscriber before it sees the publisher.
  void accept(const Stream& stream) {
    add({Notice::Kind::accept, stream.port, {}, 0, {}, {stream.who->name, stream.id}});
  }
  void fire();

 private:
  void add(Notice notice) { notices_.push_back(std::move(notice)); }
  Sender& sender_;
  std::vector<Notice> notices_;
};

}  // namespace hyphos::transport::zmq
