// An action: a goal takes time, reports its progress, and ends early if it is canceled. A newer
// goal replaces the running one.
#include "drive.hpp"
#include <hyphos/hyphos.hpp>

constexpr double kFarthest = 1e7;  // m

using Goal = hyphos::GoalHandle<DriveTo, Driven, Driven>;

void drive(const Goal& goal) {
  double metres = 0;
  while (metres < goal->metres) {
    metres += 1;
    goal.feedback({metres});
    if (goal.wait_for(hyphos::Duration::from_ms(10))) {  // true once the goal should end
      goal.canceled({metres});
      return;
    }
  }
  goal.succeed({metres});
}

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("driver", argc, argv).or_throw();
  hyphos::ActionOptions options;
  options.policy = hyphos::GoalPolicy::preempt;
  node.action<DriveTo, Driven, Driven>(
      "drive_to", options, drive, [](const DriveTo& to) -> hyphos::Result<void> {
        // Written so that NaN is rejected.
        if (to.metres > 0 && to.metres <= kFarthest) return hyphos::success();
        const char* why = to.metres <= 0 ? "cannot drive backwards" : "cannot drive that far";
        return hyphos::Error{hyphos::Code::unsupported, why, "drive_to"};
      });
  return node.spin();
}
