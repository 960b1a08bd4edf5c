#pragma once

#include "cosim/outside/body.hpp"
#include "hyphos/result.hpp"

namespace hyphos::cosim {

/// The datagrams between an emulation and the body of a robot, in the format of Writer.
enum class BodyNews : std::uint8_t {
  clock,    ///< Time
  pose,     ///< Time, Pose
  reading,  ///< sensor, message, number of attached buffers, these buffers
  motion,   ///< Motion, from the body to the emulation
  part,     ///< number and count of the parts, bytes: of a reading that needs several datagrams
};
/// A datagram is never larger.
inline constexpr std::size_t kMostNews = 64 * 1024;
/// The largest reading in parts.
inline constexpr std::size_t kMostReading = 16 << 20;

/// Publishes everything that arrives at the socket, and sends the motion commands of the programs
/// back, until the other end closes. Errors: those of the channels, corrupt.
[[nodiscard]] Result<void> follow(const BodyNames& names, int socket);

}  // namespace hyphos::cosim
