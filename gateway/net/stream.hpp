#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "gateway/net/connection.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/net/send_queue.hpp"
#include "gateway/net/unit_reader.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::net {

/// A TCP connection that receives units and sends messages.
///
/// Threads: send(), finish() and close() may be called from any thread and never block. Callbacks
/// run in threads of the loop, never two at once. Lifetime: a started stream lives until it is
/// closed, even if all references to it are dropped.
///
/// Cost: if no message waits, the sender writes its message itself, with one system call and no
/// copy. If a message with lent parts must wait, these are copied. So a peer that does not read
/// blocks at most one lent message. A unit is delivered without a copy, except for the first 64 KB
/// of a large unit, or 4 KB if large units follow each other.
class Stream final : public Loop::Item, public std::enable_shared_from_this<Stream> {
 public:
  struct Options {
    SendQueue::Limits queue = {};
    /// Time that finish() waits for the peer to read the rest and to close.
    Duration linger = Duration::from_seconds(1);
  };
  struct Callbacks {
    Measure measure;
    std::function<void(const Buffer& unit)> unit;
    /// Called when a large unit begins. May be null.
    Memory memory = {};
    /// Called with each part of a large unit as it arrives, before the unit is complete. The
    /// callback may read or change the part while it is in the cache. May be null.
    std::function<void(UnitReader::Part)> part = {};
    /// Called before each unit. False pauses the peer: no bytes are read until it returns true. It
    /// is called again every few milliseconds. May be null.
    std::function<bool()> ready = {};
    /// `measure` refused the input. The callback may send a last message. The stream then finishes.
    std::function<void(const Error&)> refused;
    /// Called once, as the last callback. All callbacks are then destroyed.
    std::function<void()> closed;
  };

  [[nodiscard]] static std::shared_ptr<Stream> open(Loop& loop, Connection connection,
                                                    const Options& options);
  ~Stream() override;

  /// Starts to read. Call it once. Before it, the owner may keep the stream and send.
  void start(Callbacks callbacks);

  /// Writes the message at once if no message waits and as far as the socket accepts it. The rest
  /// is written later. Returns the number of waiting messages that were dropped for it, this one
  /// included. A partly written message is never dropped. On a closed stream, the call has no
  /// effect. A message of kControl that does not fit closes the stream. `depth`: as for SendQueue.
  std::size_t send(Key key, Message message, std::size_t depth = 0);
  /// Closes after all waiting messages are sent. From now on no unit is delivered and no message
  /// accepted.
  void finish();
  /// Closes at once. `closed` is called later in the loop, even if this call runs in the loop.
  void close();

  [[nodiscard]] const std::string& peer() const { return connection_.peer; }
  [[nodiscard]] bool is_open() const { return state_ == State::open; }
  /// Bytes of waiting messages, without the messages that are being written.
  [[nodiscard]] std::size_t waiting() const;
  /// True while the peer is paused: its data is not read.
  [[nodiscard]] bool holds_up() const { return holds_up_; }
  /// The latest possible arrival of the unit that a callback gets. Units that were read together,
  /// and the bytes that waited while the peer was paused, have one time. Only for callbacks.
  [[nodiscard]] Time arrived() const { return {arrived_ns_}; }
  /// The time of the last received bytes, read or unread, with a precision of some milliseconds.
  /// Initially the time of opening. It stays the same until more bytes arrive. Cost: a system call.
  [[nodiscard]] Time heard();

  void stop() override { close(); }

 private:
  enum class State : std::uint8_t { open, finishing, closing, ended };
  class Socket;
  static constexpr Duration kFirstPause = Duration::from_ms(1);

  Stream(Loop& loop, Connection connection, const Options& options);

  void read();
  /// Returns false if there is no more to read for now.
  bool read_some(std::size_t& budget);
  void deliver();
  void wait_to_read() HYPHOS_REQUIRES(mutex_);
  void ask_again() HYPHOS_REQUIRES(mutex_);
  void go_on();

  void write(std::size_t budget);
  bool next_to_write();
  void wait_to_write();

  void cut() HYPHOS_REQUIRES(mutex_);
  void end_if_over() HYPHOS_REQUIRES(mutex_);
  void end();

  Loop& loop_;
  const Options options_;
  Connection connection_;  ///< its descriptor was moved to socket_
  const int fd_;
  std::atomic<State> state_ = State::open;                   ///< written under mutex_
  std::atomic<std::int64_t> heard_ns_ = monotonic_now().ns;  ///< never decreases
  std::atomic<bool> holds_up_ = false;                       ///< written by the read chain

  // Owned by the read chain, which is one thread at a time.
  Callbacks callbacks_;
  UnitReader reader_;
  std::int64_t arrived_ns_ = 0;  ///< when the chain began to read
  int gulp_ = 1;                 ///< bytes that wake the chain
  bool at_end_ = false;          ///< the peer has closed or is gone
  Duration pause_ = kFirstPause;

  // Owned by the writer: the thread that has set writing_.
  std::vector<Message> sending_;
  std::size_t to_send_ = 0;  ///< bytes of sending_
  std::size_t sent_ = 0;     ///< bytes of sending_ that are written

  mutable Mutex mutex_;
  std::unique_ptr<Socket> socket_ HYPHOS_GUARDED_BY(mutex_);
  SendQueue queue_ HYPHOS_GUARDED_BY(mutex_);
  Timer linger_ HYPHOS_GUARDED_BY(mutex_);
  Timer again_ HYPHOS_GUARDED_BY(mutex_);
  bool reading_ HYPHOS_GUARDED_BY(mutex_) = false;  ///< the read chain is active
  /// the read chain is paused, and again_ restarts it
  bool held_ HYPHOS_GUARDED_BY(mutex_) = false;
  /// a thread is the writer. If false, no message waits
  bool writing_ HYPHOS_GUARDED_BY(mutex_) = false;
};

}  // namespace hyphos::gateway::net
