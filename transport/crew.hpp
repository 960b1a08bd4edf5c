#pragma once

#include <cstdint>
#include <functional>

namespace hyphos::transport {

/// Threads that a transport may receive with, instead of one of its own; implemented by the graph.
///
/// A message that is handed to a pool costs two wake-ups: that of the thread that receives, and
/// that of the thread that runs the callback. The second is spared where a thread of a crew that
/// has received it runs the callback itself, while another waits for what comes next.
class Crew {
 public:
  enum class Turn : std::uint8_t {
    again,    ///< the thread is needed for the next turn
    covered,  ///< another thread waits for what comes: this one may run what it has brought
    over,     ///< that was the last
  };

  /// Two threads, 0 and 1, call `turn` with their number again and again, both at the same time,
  /// until it returns `over` to each. Returns at once. The turns end before the crew does.
  virtual void serve(std::function<Turn(int)> turn) = 0;
  /// Whether the turn that the calling thread takes has brought work that may be run by it. Costs a
  /// look at a variable of the thread.
  [[nodiscard]] virtual bool has_brought() const = 0;
  /// The thread that takes the turn has more to do: another one runs what it has brought. Costs the
  /// same look.
  virtual void hand_on() = 0;

 protected:
  ~Crew() = default;
};

}  // namespace hyphos::transport
