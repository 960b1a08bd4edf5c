#include "gateway/ros2/qos.hpp"

#include <algorithm>
#include <array>

#include "gateway/ros2/names.hpp"

namespace hyphos::gateway::ros2 {
namespace {

constexpr std::array<const char*, 3> kLiveliness{"automatic", "manual by participant",
                                                 "manual by topic"};

std::string time_of(std::int64_t ms) { return ms == 0 ? "none" : std::to_string(ms) + " ms"; }
/// True if the offered period is longer than the requested one.
bool is_longer(std::int64_t offered, std::int64_t asked) {
  return asked > 0 && (offered == 0 || offered > asked);
}

std::string partitions_of(const Qos& qos) {
  return list_of(qos.partitions, "the default one", "'");
}
bool share_one(const std::vector<std::string>& offered, const std::vector<std::string>& asked) {
  if (offered.empty() && asked.empty()) return true;
  const std::vector<std::string> none{""};
  const auto& left = offered.empty() ? none : offered;
  const auto& right = asked.empty() ? none : asked;
  // Patterns are left to DDS. No ROS 2 program uses them.
  const auto is_pattern = [](const std::string& name) {
    return name.find_first_of("*?[") != std::string::npos;
  };
  if (std::ranges::any_of(left, is_pattern) || std::ranges::any_of(right, is_pattern)) return true;
  return std::ranges::find_first_of(left, right) != left.end();
}

struct Difference {
  std::string asked;
  std::string offered;
  std::string remedy;  ///< for the channel, may be empty
};

std::vector<Difference> compare(const Qos& offered, const Qos& asked) {
  std::vector<Difference> found;
  if (asked.reliable && !offered.reliable) {
    found.push_back(
        {"reliable", "best effort", "Make the channel reliable, or remove it from best_effort"});
  }
  if (asked.transient_local && !offered.transient_local) {
    found.push_back({"transient local", "volatile", "Make the channel latched"});
  }
  if (is_longer(offered.deadline_ms, asked.deadline_ms)) {
    const std::string wanted = std::to_string(asked.deadline_ms);
    found.push_back({"a deadline of " + wanted + " ms", time_of(offered.deadline_ms),
                     "Give the channel a deadline_ms of at most " + wanted});
  }
  const auto kind = [](const Qos& qos) { return static_cast<std::size_t>(qos.liveliness); };
  if (asked.liveliness > offered.liveliness) {
    found.push_back({std::string("the liveliness ") + kLiveliness.at(kind(asked)),
                     kLiveliness.at(kind(offered)), ""});
  }
  if (is_longer(offered.lease_ms, asked.lease_ms)) {
    found.push_back(
        {"a liveliness lease of " + time_of(asked.lease_ms), time_of(offered.lease_ms), ""});
  }
  if (asked.exclusive != offered.exclusive) {
    const auto word = [](const Qos& qos) { return qos.exclusive ? "exclusive" : "shared"; };
    found.push_back({std::string(word(asked)) + " ownership", word(offered), ""});
  }
  if (!share_one(offered.partitions, asked.partitions)) {
    found.push_back({"the partitions " + partitions_of(asked), partitions_of(offered), ""});
  }
  if (asked.xcdr1 != offered.xcdr1) {
    found.push_back({std::string("the data representation ") + (asked.xcdr1 ? "XCDR1" : "XCDR2"),
                     offered.xcdr1 ? "XCDR1" : "XCDR2", ""});
  }
  return found;
}

}  // namespace

std::vector<std::string> differences(const Qos& offered, const Qos& asked) {
  std::vector<std::string> texts;
  for (const Difference& one : compare(offered, asked)) {
    texts.push_back("it offers " + one.offered + ", but the gateway requests " + one.asked);
  }
  return texts;
}

std::string mismatch(const Qos& offered, const Qos& asked) {
  std::string text;
  for (const Difference& one : compare(offered, asked)) {
    text += (text.empty() ? "" : ", and ") + std::string("it requests ") + one.asked + ", but " +
            one.offered + " is offered" + (one.remedy.empty() ? "" : ". " + one.remedy);
  }
  return text;
}

}  // namespace hyphos::gateway::ros2
