#pragma once

#include <cstdint>
#include <functional>

namespace hyphos::transport {

/// The work that one poll has made ready. Each polling thread has one list, which holds at most one
/// piece of work. The graph adds to it in ReceiveSink::deliver(). Used by its thread only.
class ReadyList {
 public:
  [[nodiscard]] virtual bool empty() const = 0;
  /// Hands the work to another thread of the pool, because the polling thread has more to do.
  virtual void hand_over() = 0;

 protected:
  ~ReadyList() = default;
};

/// The result of one poll.
enum class Poll : std::uint8_t {
  again,     ///< the thread must poll again
  promoted,  ///< a follower now waits for messages, so this thread may run its ready work
  over,      ///< this was the last poll
};

/// Receives messages, and waits for them, on a thread of the caller.
///
/// This is the leader/followers pattern (Schmidt et al., POSA2, 2000). A message that one thread
/// receives and another thread processes costs two wake-ups: one of the receiving thread, one of
/// the thread that runs the callback. The second wake-up is saved: the leader that received the
/// message runs the callback itself, while a follower is promoted to wait for the next message.
///
/// Two threads, 0 and 1, call it with their number repeatedly and concurrently, until it returns
/// `over` to each.
using PollFunction = std::function<Poll(int thread, ReadyList* ready)>;

}  // namespace hyphos::transport
