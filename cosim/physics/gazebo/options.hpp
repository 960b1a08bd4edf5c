#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::cosim {

/// The message names of Gazebo: `ignition` up to Fortress, `gz` since Harmonic.
enum class GazeboMessages { ignition, gz };

/// The options of the Gazebo adapter.
struct GazeboOptions {
  std::string world = "default";
  std::vector<std::string> models{};           ///< by node, names without blanks
  Duration step = Duration::from_ms(1);        ///< the world's max_step_size
  Duration timeout = Duration::from_ms(5000);  ///< for each reply, and for the poses of each step
  GazeboMessages messages = GazeboMessages::ignition;
  std::string partition{};   ///< of the transport. Empty: from the environment
  std::string pose_topic{};  ///< empty: /world/WORLD/dynamic_pose/info
};

/// Writes the options as the text that the adapter reads: "world field; model husky; model iris;
/// messages gz; step_us 1000; …".
[[nodiscard]] std::string to_text(const GazeboOptions& options);
/// Errors: invalid_config, with the option's name as `where`.
[[nodiscard]] Result<GazeboOptions> gazebo_options(std::string_view text);

}  // namespace hyphos::cosim
