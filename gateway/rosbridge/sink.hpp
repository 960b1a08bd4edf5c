#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "gateway/net/web_socket.hpp"
#include "hyphos/buffer.hpp"

namespace hyphos::gateway::rosbridge {

/// A message of WebSocket, as parts that nobody joins: prefix, a message that many clients share,
/// suffix.
struct Frame {
  bool binary = false;
  std::array<Buffer, 3> parts;
  bool lent = false;  ///< the message lies in memory that others wait for, as net::Message::lent()

  [[nodiscard]] std::size_t size() const {
    return parts[0].size() + parts[1].size() + parts[2].size();
  }
};

/// What a subscription sends waits in a lane of its own.
using OutputClass = std::uint32_t;
/// Answers and statuses. They are never dropped: a client that lets them pile up is closed.
inline constexpr OutputClass kControlOutput = 0;
/// Feedback of goals. Behind answers, where a client lags.
inline constexpr OutputClass kFeedbackOutput = 1;

/// The way to one client. Thread-safe; never blocks.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Frames that are of use only together. At most `depth` of such units wait in the lane; how
  /// many were dropped, the oldest first.
  [[nodiscard]] virtual std::size_t send(OutputClass output_class, std::uint32_t depth,
                                         std::span<const Frame> unit) = 0;
  /// Ends the connection after what was sent to the control lane.
  virtual void close(net::CloseCode code, std::string_view why) = 0;
  /// Calls Session::tick() at this time of CLOCK_MONOTONIC, or sooner.
  virtual void wake_at(std::int64_t monotonic_ns) = 0;
};

}  // namespace hyphos::gateway::rosbridge
