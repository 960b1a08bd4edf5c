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

/// Where the models were at an instant of the server's simulated time.
struct Frame {
  Time stamp;
  std::vector<std::optional<Place>> places{};  ///< of the models asked for; nothing: not among them
  std::vector<std::string> names{};            ///< some of those that were
};

/// The talk with a Gazebo server: its world-control service, and the poses it publishes. Calls come
/// from one thread; poses arrive in threads of the transport.
class GazeboServer {
 public:
  [[nodiscard]] static std::unique_ptr<GazeboServer> make(const GazeboOptions& options);

  GazeboServer() = default;
  GazeboServer(const GazeboServer&) = delete;
  GazeboServer& operator=(const GazeboServer&) = delete;
  virtual ~GazeboServer() = default;

  /// Lets the paused world go on by so many steps, and pause again; returns when that is agreed,
  /// not when it is done. Errors: disconnected (nobody offers the service), timeout (`patience` is
  /// over), io (refused).
  [[nodiscard]] virtual Result<void> step(std::uint32_t count, std::uint64_t seed,
                                          Duration patience) = 0;
  /// The latest poses, once they are of `stamp` or later; nothing at the deadline.
  [[nodiscard]] virtual std::optional<Frame> wait_for(Time stamp, Time deadline) = 0;
  /// The latest there are.
  [[nodiscard]] virtual std::optional<Frame> latest() = 0;
  /// What is published on the topic of poses instead, if its type is another; for an error.
  [[nodiscard]] virtual std::string other_type() const = 0;
};

}  // namespace hyphos::cosim
