#include "view/displays/display.hpp"

namespace hyphos::view {

Result<Pose> Display::try_pose(const std::string& frame, Time stamp) const {
  const std::string& fixed = surroundings_->fixed_frame;
  if (frame.empty() || fixed.empty() || frame == fixed) return Pose::Identity();
  auto found = surroundings_->frames->get(fixed, frame, stamp);
  if (!found) return found.error();
  return to_eigen(*found);
}

std::optional<Pose> Display::pose_of(const std::string& frame, Time stamp) {
  auto found = try_pose(frame, stamp);
  if (found) return *found;
  report(Health::error, found.error().message);
  return std::nullopt;
}

}  // namespace hyphos::view
