#include "cosim/nodes/node_programs.hpp"

#include <algorithm>
#include <set>
#include <thread>

#include "cosim/nodes/motion_messages.hpp"

namespace hyphos::cosim {
namespace {

Error two_types(const std::string& a, const OpenChannel& of_a, const std::string& b,
                const OpenChannel& of_b) {
  return {Code::type_mismatch,
          "channel '" + of_a.name + "' carries " + of_a.type.name + " (" +
              std::string(to_string(of_a.type.encoding)) + ") on robot '" + a + "', but '" +
              of_b.name + "' on robot '" + b + "' is " + of_b.type.name + " (" +
              std::string(to_string(of_b.type.encoding)) + ")",
          of_a.name};
}

}  // namespace

const OpenChannel* NodePrograms::Robot::find(const std::string& name) const {
  const auto found = std::ranges::find(open, name, &OpenChannel::name);
  return found == open.end() ? nullptr : &*found;
}

Result<std::unique_ptr<NodePrograms>> NodePrograms::open(
    Options options, std::vector<std::unique_ptr<RobotNodes>> robots) {
  auto pose_step = Step::from_rate(options.pose_rate_hz);
  if (!pose_step) return pose_step.error();
  if (options.at_once == 0) options.at_once = std::max(1U, std::thread::hardware_concurrency());
  std::unique_ptr<NodePrograms> programs(new NodePrograms(std::move(options), *pose_step));
  for (auto& nodes : robots) {
    Robot& robot = programs->robots_.emplace_back();
    robot.nodes = std::move(nodes);
    robot.next = robot.nodes ? Time{} : kNever;
  }
  if (auto wired = programs->wire(); !wired) return wired.error();
  return programs;
}

Result<void> NodePrograms::wire() {
  for (Robot& robot : robots_) {
    if (!robot.nodes) continue;
    auto open = robot.nodes->channels();
    if (!open) return open.error();
    robot.open = std::move(*open);
  }
  std::vector<Wiring> wirings(robots_.size());
  for (std::uint32_t i = 0; i < options_.channels.size(); ++i) {
    if (auto connected = connect(i, wirings); !connected) return connected;
  }
  for (NodeId node = 0; node < robots_.size(); ++node) {
    Robot& robot = robots_[node];
    if (!robot.nodes) continue;
    if (auto wired = wire_body(node, wirings[node]); !wired) return wired;
    if (auto wired = robot.nodes->wire(wirings[node]); !wired) return wired;
  }
  return success();
}

/// The channels of the robot's own body: pose, sensors and command, as far as its programs open
/// them.
Result<void> NodePrograms::wire_body(NodeId node, Wiring& wiring) {
  Robot& robot = robots_[node];
  if (robot.find(options_.pose_channel) != nullptr) {
    wiring.pose_channel = options_.pose_channel;
    robot.poses = 0;
  }
  if (const OpenChannel* const frames = robot.find("tf");
      options_.transforms && frames != nullptr && frames->type == transforms_type()) {
    wiring.frame_channel = frames->name;
    robot.poses = 0;
  }
  if (robot.find(options_.command_channel) != nullptr) {
    wiring.command_channel = options_.command_channel;
  }
  if (node < options_.limits.size()) robot.guard = CommandGuard(options_.limits[node]);
  return options_.sensors ? wire_sensors(node, wiring) : success();
}

Result<void> NodePrograms::wire_sensors(NodeId node, Wiring& wiring) {
  wiring.sensor_channels = options_.sensors->channels(node);
  for (std::uint32_t i = 0; i < wiring.sensor_channels.size(); ++i) {
    SensorChannel& sensor = wiring.sensor_channels[i];
    const OpenChannel* const here = robots_[node].find(sensor.name);
    if (here == nullptr && sensor.needed) {
      return Error{Code::not_found,
                   "no node of robot '" + options_.names[node] + "' has opened channel '" +
                       sensor.name + "' of its sensor: " + opened_channels(),
                   sensor.name};
    }
    if (here != nullptr && here->type != sensor.type) {
      return two_types("a sensor", {sensor.name, sensor.type}, options_.names[node], *here);
    }
    if (here != nullptr) continue;
    sensor.name.clear();
    options_.sensors->leave_out(node, i);
  }
  return success();
}

Result<void> NodePrograms::connect(std::uint32_t index, std::vector<Wiring>& wirings) {
  const CrossingChannel& channel = options_.channels[index];
  const std::string& arrives = channel.as.empty() ? channel.name : channel.as;
  const OpenChannel* sent = nullptr;
  std::vector<NodeId> senders;
  for (NodeId node = 0; node < robots_.size(); ++node) {
    const OpenChannel* const here =
        among(channel.from, node) ? robots_[node].find(channel.name) : nullptr;
    if (here == nullptr) continue;
    if (sent == nullptr) sent = here;
    senders.push_back(node);
    if (here->type != sent->type) {
      return two_types(options_.names[senders[0]], *sent, options_.names[node], *here);
    }
    wirings[node].outbound_channels.push_back(channel.name);
    robots_[node].outbound_channels.push_back(index);
  }
  if (sent == nullptr) {
    return Error{Code::not_found,
                 "no node of the sending robots has opened channel '" + channel.name +
                     "': " + opened_channels(),
                 channel.name};
  }
  bool received = false;
  for (NodeId node = 0; node < robots_.size(); ++node) {
    const Robot& robot = robots_[node];
    if (!robot.nodes || !among(channel.to, node)) continue;
    const OpenChannel* const here = robot.find(arrives);
    const bool alone = senders.size() == 1 && senders[0] == node;
    if (here == nullptr && (alone || !robot.nodes->accepts_any())) continue;
    if (here != nullptr && here->type != sent->type) {
      return two_types(options_.names[senders[0]], *sent, options_.names[node], *here);
    }
    received |= !alone;
    auto& inbound_channels = wirings[node].inbound_channels;
    const auto twice = std::ranges::find_if(inbound_channels, [&](const Wiring::Inbound& inbound) {
      return inbound.sent_as == channel.name && std::ranges::any_of(senders, [&](NodeId from) {
               return from != node && among(inbound.from, from);
             });
    });
    if (twice != inbound_channels.end()) {
      return Error{Code::already_exists,
                   "channel '" + channel.name + "' of one robot reaches robot '" +
                       options_.names[node] + "' by two paths",
                   channel.name};
    }
    inbound_channels.push_back({channel.name, channel.from, arrives, sent->type});
  }
  if (received) return success();
  return Error{
      Code::not_found,
      "channel '" + channel.name + "' arrives as '" + arrives +
          "', but no node of the receiving robots has opened that channel: " + opened_channels(),
      channel.name};
}

std::string NodePrograms::opened_channels() const {
  std::set<std::string> names;
  for (const Robot& robot : robots_) {
    for (const OpenChannel& channel : robot.open) names.insert(channel.name);
  }
  std::string text = "the open channels are:";
  for (const std::string& name : names) text += " " + name;
  return text;
}

Time NodePrograms::pose_due(const Robot& robot) const {
  return robot.poses < 0 ? kNever : pose_step_.at(robot.poses).value();
}

Time NodePrograms::sensor_due(NodeId node) const {
  return options_.sensors && robots_[node].nodes ? options_.sensors->next(node) : kNever;
}

bool NodePrograms::is_due(NodeId node, Time now) const {
  const Robot& robot = robots_[node];
  return !robot.input.packets.empty() || robot.next <= now || pose_due(robot) <= now ||
         sensor_due(node) <= now;
}

Time NodePrograms::next_event_time() const {
  Time next = kNever;
  for (NodeId node = 0; node < robots_.size(); ++node) {
    const Robot& robot = robots_[node];
    next = std::min({next, robot.next, pose_due(robot), sensor_due(node), robot.guard.deadline()});
  }
  return next;
}

void NodePrograms::step(Time now, std::span<const Delivery> inbox, std::span<const Pose> poses,
                        Outbox& outbox) {
  for (const Delivery& delivery : inbox) {
    Robot& robot = robots_[delivery.to];
    if (robot.nodes) robot.input.packets.push_back({delivery.from, delivery.bytes});
  }
  due_.clear();
  for (NodeId node = 0; node < robots_.size() && !failure_; ++node) {
    Robot& robot = robots_[node];
    if (robot.guard.expire(now)) outbox.steer(node, {});
    if (!robot.nodes) continue;
    if (!is_due(node, now)) continue;
    robot.input.now = now;
    if (pose_due(robot) <= now) {
      robot.input.pose = poses[node];
      robot.poses = pose_step_.index_at_or_before(now) + 1;
    }
    sense(node, now, poses);
    due_.push_back(node);
  }
  run_due(outbox);
}

void NodePrograms::sense(NodeId node, Time now, std::span<const Pose> poses) {
  if (sensor_due(node) > now) return;
  auto sensed = options_.sensors->read(node, now, poses, robots_[node].input.readings);
  if (!sensed && !failure_) failure_ = sensed.error();
}

/// Runs at most `at_once` robots at a time. Each robot has its own time limit, which must not
/// expire because other robots run as well. After an error, this function waits for the robots that
/// have begun, so that their processes can be asked to quit.
void NodePrograms::run_due(Outbox& outbox) {
  std::size_t begun = 0;
  for (std::size_t i = 0; i < due_.size(); ++i) {
    for (; begun < std::min(due_.size(), i + options_.at_once) && !failure_; ++begun) {
      Robot& robot = robots_[due_[begun]];
      robot.begun = robot.nodes->begin(robot.input);
    }
    if (i >= begun) return;
    auto finished = finish(due_[i], outbox);
    if (!finished && !failure_) failure_ = finished.error();
  }
}

Result<void> NodePrograms::finish(NodeId node, Outbox& outbox) {
  Robot& robot = robots_[node];
  if (!robot.begun) return robot.begun;
  auto output = robot.nodes->finish();
  if (!output) return output.error();
  return take(node, std::move(*output), outbox);
}

Result<void> NodePrograms::take(NodeId node, RobotOutput output, Outbox& outbox) {
  Robot& robot = robots_[node];
  if (output.next <= robot.input.now) {
    return Error{Code::corrupt,
                 "robot '" + options_.names[node] + "' has a timer in the past: at " +
                     std::to_string(output.next.ns) + " ns, but the time is " +
                     std::to_string(robot.input.now.ns) + " ns",
                 ""};
  }
  robot.next = output.next;
  robot.now = robot.input.now;
  robot.input = {};
  for (RobotOutput::Sent& sent : output.sent) {
    if (sent.outbound >= robot.outbound_channels.size()) {
      return Error{Code::corrupt,
                   "robot '" + options_.names[node] + "' sent on a channel that it has not opened",
                   ""};
    }
    const CrossingChannel& channel = options_.channels[robot.outbound_channels[sent.outbound]];
    if (channel.to.empty()) outbox.send(node, kEveryone, sent.packet);
    for (const NodeId to : channel.to) {
      if (to != node) outbox.send(node, to, sent.packet);
    }
  }
  if (output.motion) {
    if (const auto motion = robot.guard.check(*output.motion, robot.now)) {
      outbox.steer(node, *motion);
    }
  }
  return success();
}

Result<void> NodePrograms::failure() const {
  return failure_ ? Result<void>(*failure_) : success();
}

Result<std::vector<Lost>> NodePrograms::lost() {
  std::vector<Lost> all;
  for (NodeId node = 0; node < robots_.size(); ++node) {
    if (!robots_[node].nodes) continue;
    auto drops = robots_[node].nodes->drops();
    if (!drops) return drops.error();
    for (RobotDrops& drop : *drops) {
      all.push_back(
          {options_.names[node], std::move(drop.channel), std::move(drop.reason), drop.count});
    }
    if (const auto refused = robots_[node].guard.counts().refused; refused > 0) {
      all.push_back(
          {options_.names[node], options_.command_channel, "drop.command.refused", refused});
    }
  }
  return all;
}

void NodePrograms::add_in_part(std::map<NodeId, InPart>& in_part) const {
  for (NodeId node = 0; node < robots_.size(); ++node) {
    robots_[node].guard.add_to(in_part, node);
  }
}

}  // namespace hyphos::cosim
