#include "cosim/scenario/mavlink.hpp"

namespace hyphos::cosim {

std::optional<mavlink::Options> read_mavlink(const config::Section& robot, RobotKind kind,
                                             std::size_t node, config::Problems& problems) {
  if (!robot.has("mavlink")) return std::nullopt;
  const config::Section section(robot.find("mavlink"), robot.path("mavlink"), problems,
                                {"autopilot", "system_id", "remote", "port"});
  if (kind != RobotKind::uav) robot.error("mavlink", "only valid with `kind: uav`");
  if (robot.has("plan")) {
    robot.error("mavlink", "only valid without a `plan`: either nodes or MAVLink steer a robot");
  }
  if (!robot.has("at")) {
    robot.error("mavlink", "only valid with `at`: it flies where its commands lead it");
  }
  mavlink::Options options;
  options.autopilot = section.choice<mavlink::Autopilot>(
      "autopilot", mavlink::Autopilot::px4,
      {{"px4", mavlink::Autopilot::px4}, {"ardupilot", mavlink::Autopilot::ardupilot}});
  const auto number = static_cast<std::int64_t>(node % 250 + 1);
  options.system = static_cast<std::uint8_t>(section.integer("system_id", number, 1, 250));
  options.remote = section.text("remote", options.remote);
  options.port = static_cast<std::uint16_t>(section.integer("port", 0, 0, 65'535));
  if (auto right = mavlink::Link::checked(options.remote); !right) {
    section.error("remote", right.error().message);
  }
  return options;
}

}  // namespace hyphos::cosim
