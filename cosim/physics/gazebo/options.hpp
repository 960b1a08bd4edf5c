#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

/// The names that a Gazebo gives its types of messages: Fortress and before, Harmonic and since.
enum class GazeboMessages { ignition, gz };

/// What the Gazebo adapter is told.
struct GazeboOptions {
  std::string world = "default";
  std::vector<std::string> models{};           ///< by node; names without blanks
  Duration step = Duration::from_ms(1);        ///< the world's max_step_size
  Duration timeout = Duration::from_ms(5000);  ///< for each answer, and for each step to be told of
  GazeboMessages messages = GazeboMessages::ignition;
  std::string partition{};   ///< of the transport; empty: that of the environment
  std::string pose_topic{};  ///< empty: /world/WORLD/dynamic_pose/info
};

/// As the adapter's options: "world field; model husky; model iris; messages gz; step_us 1000; …".
[[nodiscard]] std::string to_text(const GazeboOptions& options);
/// Errors: invalid_config, with the option's name as `where`.
[[nodiscard]] Result<GazeboOptions> gazebo_options(std::string_view text);

}  // namespace hyphos::cosim
