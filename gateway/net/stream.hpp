#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/net/connection.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/net/send_queue.hpp"
#include "gateway/net/unit_reader.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::net {

/// A TCP connection that carries units one way and messages the other.
///
/// Threads: send(), finish() and close() from any, and never blocking; callbacks in threads of the
/// loop, never two at once. Lifetime: a stream that was started lives until it is closed, whoever
/// drops it. Cost: a message that nothing waits before is written by its sender, with one system
/// call and no copy; what is lent of one that has to wait is copied, so a peer that does not read
/// holds one message that is lent, no more; a unit is delivered without a copy, but for the first
/// 64 KB of a large one, or 4 KB where large ones follow each other.
class Stream final : public Loop::Item, public std::enable_shared_from_this<Stream> {
 public:
  struct Options {
    SendQueue::Limits queue = {};
    /// How long finish() waits for the peer to read what was sent and to close.
    Duration linger = Duration::from_seconds(1);
  };
  struct Callbacks {
    Measure measure;
    std::function<void(const Buffer& unit)> unit;
    /// Asked when a large unit begins. May be null.
    Memory memory = {};
    /// Of a large unit, each part as it comes, to be looked at or changed while it lies in the
    /// cache; before the unit is complete. May be null.
    std::function<void(UnitReader::Part)> part = {};
    /// Asked before each unit; false holds the peer up: nothing is read until it says true, for
    /// which it is asked again every few milliseconds. May be null.
    std::function<bool()> ready = {};
    /// `measure` refused what came. Last words may be sent; then the stream finishes.
    std::function<void(const Error&)> refused;
    /// Once, at the end, the last of all: the callbacks are dropped after it.
    std::function<void()> closed;
  };

  [[nodiscard]] static std::shared_ptr<Stream> open(Loop& loop, Connection connection,
                                                    const Options& options);
  ~Stream() override;

  /// Begins to read. Once. Before it, the callbacks' owner may keep the stream and send.
  void start(Callbacks callbacks);

  /// Writes the message at once, as far as nothing waits and the socket takes it; the rest goes
  /// when it can. Returns how many messages that waited were dropped for it, this one included. One
  /// that is partly written is never dropped. On a stream that is closed nothing happens. A message
  /// of kControl that does not fit closes the stream. `depth`: as for SendQueue.
  std::size_t send(Key key, Message message, std::size_t depth = 0);
  /// Closes when what waits was sent; nothing is delivered nor taken from now on.
  void finish();
  /// Closes now. `closed` is called later, in the loop, even if this is.
  void close();

  [[nodiscard]] const std::string& peer() const { return connection_.peer; }
  [[nodiscard]] bool is_open() const { return state_ == State::open; }
  /// Bytes of messages that wait to be written, but not of those being written.
  [[nodiscard]] std::size_t waiting() const;
  /// The peer is held up: what it sends is not read.
  [[nodiscard]] bool holds_up() const { return holds_up_; }
  /// When bytes came last, to some milliseconds, read or not; at first, when it was opened. It is
  /// the same until more come. Cost: a system call.
  [[nodiscard]] Time heard();

  void stop() override { close(); }

 private:
  enum class State : std::uint8_t { open, finishing, closing, ended };
  class Socket;
  static constexpr Duration kFirstPause = Duration::from_ms(1);

  Stream(Loop& loop, Connection connection, const Options& options);

  void read();
  /// False when there is nothing more to read for now.
  bool read_some(std::size_t& budget);
  void deliver();
  void wait_to_read();  ///< under the lock
  void ask_again();     ///< under the lock
  void go_on();

  void write(std::size_t budget);
  bool next_to_write();
  void wait_to_write();

  void cut();          ///< under the lock
  void end_if_over();  ///< under the lock
  void end();

  Loop& loop_;
  const Options options_;
  Connection connection_;  ///< its descriptor has gone to socket_
  const int fd_;
  std::atomic<State> state_ = State::open;                   ///< written under the lock
  std::atomic<std::int64_t> heard_ns_ = monotonic_now().ns;  ///< never goes back
  std::atomic<bool> holds_up_ = false;                       ///< written by the chain of reads

  // Of the chain of reads, which is one thread at a time.
  Callbacks callbacks_;
  UnitReader reader_;
  int gulp_ = 1;         ///< bytes that wake the chain
  bool at_end_ = false;  ///< the peer has closed, or is gone
  Duration pause_ = kFirstPause;

  // Of the writer: the thread that has set writing_.
  std::vector<Message> sending_;
  std::size_t to_send_ = 0;  ///< bytes of sending_
  std::size_t sent_ = 0;     ///< of these, written

  mutable std::mutex mutex_;
  std::unique_ptr<Socket> socket_;
  SendQueue queue_;
  Timer linger_;
  Timer again_;
  bool reading_ = false;  ///< the chain of reads goes on
  bool held_ = false;     ///< it does not, but begins again when again_ fires
  bool writing_ = false;  ///< somebody is the writer; if not, nothing waits
};

}  // namespace hyphos::gateway::net
