#include "view/displays/display.hpp"

namespace hyphos::view {

Result<Pose> Display::try_pose(const std::string& frame, Time stamp) const {
  const std::string& fixed = surroundings_->fixed_frame;
  if (fixed.empty() && !frame.empty()) surroundings_->assumed.insert(frame);
  if (frame.empty() || fixed.empty() || frame == fixed) return Pose::Identity();
  auto found = surroundings_->frames->get(fixed, frame, stamp);
  if (!found) return found.error();
  return to_eigen(*found);
}

void Display::report(Health health, std::string text) {
  if (health == Health::good && surroundings_ != nullptr && surroundings_->fixed_frame.empty() &&
      surroundings_->assumed.size() > 1) {
    health = Health::warning;
    text += std::string(text.empty() ? "" : ". ") +
            "No transform has come, so that all frames are drawn at the origin";
  }
  status_ = {health, std::move(text)};
}

std::optional<Pose> Display::pose_of(const std::string& frame, Time stamp) {
  auto found = try_pose(frame, stamp);
  if (found) return *found;
  report(Health::error, found.error().message);
  return std::nullopt;
}

}  // namespace hyphos::view
