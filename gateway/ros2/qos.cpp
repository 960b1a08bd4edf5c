#include "gateway/ros2/qos.hpp"

namespace hyphos::gateway::ros2 {

std::string mismatch(const Qos& offered, const Qos& asked) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (asked.reliable && !offered.reliable) {
    add("it asks for reliable, where best effort is offered: make the channel reliable, or take it "
        "out of best_effort");
  }
  if (asked.transient_local && !offered.transient_local) {
    add("it asks for transient local, where volatile is offered: make the channel latched");
  }
  const std::int64_t wanted = asked.deadline_ms;
  if (wanted > 0 && (offered.deadline_ms == 0 || offered.deadline_ms > wanted)) {
    const std::string ours =
        offered.deadline_ms == 0 ? "none" : std::to_string(offered.deadline_ms) + " ms";
    add("it asks for a deadline of " + std::to_string(wanted) + " ms, where " + ours +
        " is offered: give the channel a deadline_ms of at most " + std::to_string(wanted));
  }
  return text;
}

}  // namespace hyphos::gateway::ros2
