#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "gateway/net/web_socket.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::rosbridge {

/// A WebSocket message as parts that are not joined: prefix, a message that many clients share,
/// suffix.
struct Frame {
  bool binary = false;
  std::array<Buffer, 3> parts;
  bool lent = false;  ///< the message is in memory that others wait for, as in net::Message::lent()
  /// If not empty: the parts are JSON, except that the message is CBOR, as the value of the member
  /// of this name. Only for clients that use BSON.
  std::string_view cbor_member = {};

  [[nodiscard]] std::size_t size() const {
    return parts[0].size() + parts[1].size() + parts[2].size();
  }
};

/// Identifies an output class. Each subscription has its own.
using OutputClass = std::uint32_t;
/// Replies and status messages. They are never dropped. Instead, a client that lets them pile up is
/// closed.
inline constexpr OutputClass kControlOutput = 0;
/// Feedback of goals. For a slow client, it is sent after replies.
inline constexpr OutputClass kFeedbackOutput = 1;

/// The output to one client. Thread-safe. Never blocks.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Sends frames that are useful only together. At most `depth` such units wait in the output
  /// class. Returns the number of dropped units, oldest first.
  [[nodiscard]] virtual std::size_t send(OutputClass output_class, std::uint32_t depth,
                                         std::span<const Frame> unit) = 0;
  /// Ends the connection after the frames of the control output class are sent.
  virtual void close(net::CloseCode code, std::string_view why) = 0;
  /// True if the client gets topics in CBOR unless it asks for another form.
  [[nodiscard]] virtual bool prefers_cbor() const { return false; }
  /// The arrival of the message that the session handles, CLOCK_MONOTONIC. 0: it arrives now.
  [[nodiscard]] virtual Time arrived() const { return {}; }
  /// Calls Session::tick() at this time of CLOCK_MONOTONIC, or earlier.
  virtual void wake_at(std::int64_t monotonic_ns) = 0;
};

}  // namespace hyphos::gateway::rosbridge
