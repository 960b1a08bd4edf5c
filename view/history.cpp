#include "view/history.hpp"

namespace hyphos::view {

void History::record(std::string action, const Layout& now) {
  Layout still = now;
  if (!steps_.empty()) still.camera = steps_[at_].layout.camera;
  if (!steps_.empty() && still == steps_[at_].layout) return;
  if (!steps_.empty()) steps_.resize(at_ + 1);
  steps_.push_back({std::move(action), now});
  if (steps_.size() > kMost) steps_.erase(steps_.begin());
  at_ = steps_.size() - 1;
}

}  // namespace hyphos::view
