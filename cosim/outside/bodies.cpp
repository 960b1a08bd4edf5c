#include "cosim/outside/bodies.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "cosim/outside/follow.hpp"
#include "cosim/remote/codec.hpp"

namespace hyphos::cosim {
namespace {

bool send(int socket, const Writer& writer) {
  const auto bytes = writer.bytes();
  return bytes.size() <= kMostNews &&
         ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
             static_cast<ssize_t>(bytes.size());
}

/// Sends a reading, in parts if it is large. After a part that does not fit, the rest is useless.
bool send_reading(int socket, const Writer& reading) {
  if (reading.size() <= kMostNews) return send(socket, reading);
  constexpr std::size_t kPart = kMostNews - 64;  // the rest is for the head of the part
  const auto count = static_cast<std::uint32_t>((reading.size() + kPart - 1) / kPart);
  Writer writer;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto left = reading.bytes().subspan(i * kPart);
    writer.clear();
    writer.put(BodyNews::part);
    writer.put(i);
    writer.put(count);
    writer.put_block(left.first(std::min(left.size(), kPart)));
    if (!send(socket, writer)) return false;
  }
  return true;
}

/// Makes room for pictures. Without the right to exceed the limit of the machine it stays there.
void make_room(int socket) {
  const int size = kMostReading;
  if (::setsockopt(socket, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) == 0) return;
  (void)::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

}  // namespace

Result<std::unique_ptr<Bodies>> Bodies::open(Options options, const std::vector<int>& sockets) {
  auto pose_step = Step::from_rate(options.pose_rate_hz);
  if (!pose_step) return pose_step.error();
  std::unique_ptr<Bodies> bodies(new Bodies(std::move(options), *pose_step));
  for (NodeId node = 0; node < sockets.size(); ++node) {
    bodies->robots_.emplace_back();
    if (sockets[node] < 0) continue;
    make_room(sockets[node]);
    auto clock_step = Step::from_rate(bodies->options_.clock_hz[node]);
    if (!clock_step) return clock_step.error();
    bodies->robots_.back().reset(new Robot{UniqueFd(sockets[node]), *clock_step, 0, 0,
                                           CommandGuard(bodies->options_.limits[node])});
  }
  return bodies;
}

Result<void> Bodies::window(Time now, Physics& physics) {
  for (NodeId node = 0; node < robots_.size(); ++node) {
    if (!robots_[node]) continue;
    if (auto taken = take_commands(node, now, physics); !taken) return taken;
  }
  for (NodeId node = 0; node < robots_.size(); ++node) {
    if (!robots_[node]) continue;
    if (auto told = tell(node, now, physics.poses()); !told) return told;
  }
  return success();
}

Result<void> Bodies::take_commands(NodeId node, Time now, Physics& physics) {
  Robot& robot = *robots_[node];
  std::array<std::byte, 256> room{};
  std::optional<Motion> last;
  while (true) {
    const ssize_t got = ::recv(robot.socket.get(), room.data(), room.size(), MSG_DONTWAIT);
    if (got <= 0) break;  // nothing waits, or the process has ended
    Reader reader(std::span<const std::byte>(room).first(static_cast<std::size_t>(got)));
    if (reader.get<BodyNews>() != BodyNews::motion) continue;
    const auto motion = reader.get<Motion>();
    if (!reader.complete()) continue;
    if (auto allowed = robot.guard.check(motion, now)) last = allowed;
  }
  if (last) return steer(node, *last, now, physics);
  if (robot.guard.expire(now)) return steer(node, {}, now, physics);
  return success();
}

Result<void> Bodies::steer(NodeId node, const Motion& motion, Time now, Physics& physics) {
  ++motions_;
  auto left_out = physics.steer(node, motion);
  if (!left_out) return left_out.error();
  if (left_out->empty()) return success();
  ++in_part_.try_emplace(node, InPart{0, now, *left_out}).first->second.count;
  return success();
}

Result<void> Bodies::tell(NodeId node, Time now, std::span<const Pose> poses) {
  Robot& robot = *robots_[node];
  Writer writer;
  if (robot.clock_step.at(robot.clocks).value() <= now) {
    robot.clocks = robot.clock_step.index_at_or_before(now) + 1;
    writer.put(BodyNews::clock);
    writer.put(now);
    if (!send(robot.socket.get(), writer)) ++robot.dropped;
  }
  if (pose_step_.at(robot.poses).value() <= now) {
    robot.poses = pose_step_.index_at_or_before(now) + 1;
    writer.clear();
    writer.put(BodyNews::pose);
    writer.put(now);
    writer.put(poses[node]);
    if (!send(robot.socket.get(), writer)) ++robot.dropped;
  }
  if (!options_.sensors || options_.sensors->next(node) > now) return success();
  readings_.clear();
  if (auto read = options_.sensors->read(node, now, poses, readings_); !read) return read;
  for (const Reading& reading : readings_) {
    writer.clear();
    writer.put(BodyNews::reading);
    writer.put(reading.sensor);
    writer.put_block(reading.message.bytes());
    writer.put(static_cast<std::uint32_t>(reading.attached.size()));
    for (const Buffer& buffer : reading.attached) writer.put_block(buffer.bytes());
    if (!send_reading(robot.socket.get(), writer)) ++robot.dropped;
  }
  return success();
}

std::vector<Lost> Bodies::lost() const {
  std::vector<Lost> all;
  for (NodeId node = 0; node < robots_.size(); ++node) {
    if (!robots_[node]) continue;
    const std::string& name = options_.names[node];
    if (const auto refused = robots_[node]->guard.counts().refused; refused > 0) {
      all.push_back({name, options_.command_channel, "drop.command.refused", refused});
    }
    if (robots_[node]->dropped > 0) {
      all.push_back({name, "", "drop.body.queue", robots_[node]->dropped});
    }
  }
  return all;
}

std::map<NodeId, InPart> Bodies::in_part() const {
  std::map<NodeId, InPart> all = in_part_;
  for (NodeId node = 0; node < robots_.size(); ++node) {
    if (robots_[node]) robots_[node]->guard.add_to(all, node);
  }
  return all;
}

}  // namespace hyphos::cosim
