#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cosim/core/geometry.hpp"
#include "cosim/physics/gazebo/options.hpp"

namespace hyphos::cosim {

struct Place {
  Vec3 position;
  Quaternion orientation{};
};

/// The poses of the models at an instant of the server's simulated time.
struct Frame {
  Time stamp;
  std::vector<std::optional<Place>> places{};  ///< of the requested models. Empty: model missing
  std::vector<std::string> names{};            ///< some names in the message
};

/// The connection to a Gazebo server: its world-control service, and the poses that it publishes.
/// Threads: calls come from one thread, and poses arrive in threads of the transport.
class GazeboServer {
 public:
  [[nodiscard]] static std::unique_ptr<GazeboServer> make(const GazeboOptions& options);

  GazeboServer() = default;
  GazeboServer(const GazeboServer&) = delete;
  GazeboServer& operator=(const GazeboServer&) = delete;
  virtual ~GazeboServer() = default;

  /// Advances the paused world by `count` steps. Returns when the server accepts the request,
  /// before the steps are done. Errors: disconnected (no server offers the service), timeout (no
  /// reply within `patience`), io (refused).
  [[nodiscard]] virtual Result<void> step(std::uint32_t count, std::uint64_t seed,
                                          Duration patience) = 0;
  /// Returns the latest poses, once they are of `stamp` or later. Returns nothing at the deadline.
  [[nodiscard]] virtual std::optional<Frame> wait_for(Time stamp, Time deadline) = 0;
  /// Returns the latest poses.
  [[nodiscard]] virtual std::optional<Frame> latest() = 0;
  /// The message type on the pose topic, if it is not the expected type. For error texts.
  [[nodiscard]] virtual std::string other_type() const = 0;
};

}  // namespace hyphos::cosim
