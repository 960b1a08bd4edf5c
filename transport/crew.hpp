#pragma once

#include <cstdint>
#include <functional>

namespace hyphos::transport {

/// Threads that a transport may use to receive, instead of a thread of its own. The graph
/// implements it.
///
/// This is the leader/followers pattern (Schmidt et al., POSA2, 2000). A message that one thread
/// receives and another thread processes costs two wake-ups: one of the receiving thread, one of
/// the thread that runs the callback. The second wake-up is saved: the leader that received the
/// message runs the callback itself, while a follower is promoted to wait for the next message.
class Crew {
 public:
  enum class Turn : std::uint8_t {
    again,    ///< the thread must poll again
    covered,  ///< a follower now waits for messages, so this thread may run its callbacks
    over,     ///< this was the last poll
  };

  /// Two threads, 0 and 1, call `turn` with their number repeatedly and concurrently, until it
  /// returns `over` to each. Returns at once. The polls end before the receive pool is destroyed.
  virtual void serve(std::function<Turn(int)> turn) = 0;
  /// True if the current poll of the calling thread has brought work that this thread may run.
  /// Cost: one read of a thread-local variable.
  [[nodiscard]] virtual bool has_brought() const = 0;
  /// The polling thread has more messages to receive: hand its pending work over to another thread.
  /// Same cost.
  virtual void hand_on() = 0;

 protected:
  ~Crew() = default;
};

}  // namespace hyphos::transport
