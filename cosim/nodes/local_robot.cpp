#include "cosim/nodes/local_robot.hpp"

#include <algorithm>
#include <exception>

#include "cosim/nodes/motion_messages.hpp"
#include "wire/packet.hpp"

namespace hyphos::cosim {
namespace {

constexpr const char* kOurNode = "cosim";

}  // namespace

Result<std::unique_ptr<LocalRobot>> LocalRobot::open(const RobotOptions& options) {
  RuntimeOptions how;
  how.plan_file = options.plan;
  how.process = options.name;
  how.overrides = options.settings;
  how.lockstep = true;
  how.lockstep_nodes = options.nodes;
  auto opened = open_in_step(std::move(how), kOurNode);
  if (!opened) return opened.error();
  return std::unique_ptr<LocalRobot>(new LocalRobot(options, std::move(*opened)));
}

Result<void> LocalRobot::load() {
  Result<void> loaded;
  // Runs in the pool, so that messages published at start also have a place in the order.
  if (auto ran = run([&] { loaded = runtime_.load_plugins(); }); !ran) return ran;
  return loaded;
}

Result<void> LocalRobot::run(const std::function<void()>& work) {
  try {
    runtime_.settle(work);
  } catch (const Exception& error) {
    return error.error();
  } catch (const std::exception& error) {
    return Error{Code::io, error.what(), options_.name};
  }
  const CallbackErrors errors = runtime_.callback_errors();
  if (errors.count == 0) return success();
  return Error{Code::io, errors.first, "at " + std::to_string(time_.now().ns) + " ns"};
}

Result<std::vector<OpenChannel>> LocalRobot::channels() {
  runtime_.ready();
  if (auto rest = run({}); !rest) return rest.error();
  std::vector<OpenChannel> all;
  for (const ChannelInfo& channel : runtime_.channels())
    all.push_back({channel.name, channel.type});
  return all;
}

Result<void> LocalRobot::wire(const Wiring& wiring) {
  Result<void> wired;
  const auto connect = [&]() -> Result<void> {
    if (auto opened = open_poses(wiring); !opened) return opened;
    if (auto opened = open_sensors(wiring.sensor_channels); !opened) return opened;
    if (!wiring.command_channel.empty()) {
      if (auto opened = open_command(wiring.command_channel); !opened) return opened;
    }
    const auto open = runtime_.channels();
    for (std::uint32_t i = 0; i < wiring.outbound_channels.size(); ++i) {
      const auto found = std::ranges::find(open, wiring.outbound_channels[i], &ChannelInfo::name);
      if (found == open.end()) {
        return Error{Code::not_found,
                     "no node has opened channel '" + wiring.outbound_channels[i] + "'",
                     options_.name};
      }
      if (auto opened = open_outbound(i, {found->name, found->type}); !opened) return opened;
    }
    // Inbound channels open after outbound_channels. A publisher that opens a channel without
    // endpoints would recreate it, without the latched values of publishers that have closed.
    for (const Wiring::Inbound& inbound : wiring.inbound_channels) {
      if (auto opened = arrivals_.open(node_, inbound, inbound.channel); !opened) return opened;
    }
    return success();
  };
  if (auto ran = run([&] { wired = connect(); }); !ran) return ran;
  return wired;
}

Result<void> LocalRobot::open_poses(const Wiring& wiring) {
  if (!wiring.pose_channel.empty()) {
    auto opened = node_.raw_publisher(wiring.pose_channel, odometry_type());
    if (!opened) return opened.error();
    pose_ = std::move(*opened);
    has_pose_ = true;
  }
  if (!wiring.frame_channel.empty()) {
    auto opened = node_.raw_publisher(wiring.frame_channel, transforms_type());
    if (!opened) return opened.error();
    frame_ = std::move(*opened);
    has_frame_ = true;
  }
  return success();
}

Result<void> LocalRobot::open_sensors(const std::vector<SensorChannel>& sensors) {
  for (const SensorChannel& sensor : sensors) {
    RawPublisher& made = sensors_.emplace_back();
    if (sensor.name.empty()) continue;
    auto opened = node_.raw_publisher(sensor.name, sensor.type, publisher_of(sensor));
    if (!opened) return opened.error();
    made = std::move(*opened);
  }
  return success();
}

Result<void> LocalRobot::open_outbound(std::uint32_t outbound, const OpenChannel& channel) {
  auto opened = node_.raw_subscribe(channel.name, channel.type, where_it_is_published(),
                                    [this, outbound, channel](const Message<RawMessage>& message) {
                                      send(outbound, channel, message);
                                    });
  return opened ? success() : Result<void>(opened.error());
}

Result<void> LocalRobot::open_command(const std::string& channel) {
  auto opened = node_.raw_subscribe(
      channel, twist_type(), where_it_is_published(), [this](const Message<RawMessage>& message) {
        const MutexLock lock(mutex_);
        if (const auto motion = decode_twist(message->payload.bytes())) output_.motion = motion;
      });
  return opened ? success() : Result<void>(opened.error());
}

std::uint64_t LocalRobot::stable_sender(std::uint64_t sender, const std::string& channel) {
  const auto known = senders_.find(sender);
  if (known != senders_.end()) return known->second;
  const std::string name = options_.name + '/' + channel + '/' + std::to_string(senders_.size());
  return senders_.emplace(sender, wire::fnv1a(name)).first->second;
}

void LocalRobot::send(std::uint32_t outbound, const OpenChannel& channel,
                      const Message<RawMessage>& message) {
  if (arrivals_.is_foreign(message.sender())) return;
  const MutexLock lock(mutex_);
  const std::uint64_t sender = stable_sender(message.sender(), channel.name);
  output_.sent.push_back({outbound, packet_of(channel, message, sender, time_.now())});
}

/// Runs in the pool. Everything sees the new time, and the inputs come before timers.
void LocalRobot::bring_in(const RobotInput& input) {
  if (input.now > time_.now()) time_.advance(input.now - time_.now());
  if (input.pose && has_pose_) {
    pose_.publish(Buffer::adopt(encode_odometry(*input.pose, input.now)));
  }
  // A stamp of 0 is no time of a transform.
  if (input.pose && has_frame_ && input.now.ns > 0) {
    frame_.publish(Buffer::adopt(encode_frame(*input.pose, input.now)));
  }
  for (const Reading& reading : input.readings) publish_reading(sensors_, reading);
  for (const RobotInput::Arrived& arrived : input.packets) {
    const auto published = arrivals_.publish(arrived, options_.name);
    received_ = published ? success() : Result<void>(published.error());
    if (!received_) return;
  }
}

Result<void> LocalRobot::begin(const RobotInput& input) {
  input_ = &input;
  return success();
}

Result<RobotOutput> LocalRobot::finish() {
  if (auto ran = run([&] { bring_in(*input_); }); !ran) return ran.error();
  if (!received_) return received_.error();
  const MutexLock lock(mutex_);
  RobotOutput output = std::exchange(output_, {});
  if (const auto due = runtime_.next_timer()) output.next = *due;
  return output;
}

Result<std::vector<RobotDrops>> LocalRobot::drops() { return drops_of(sum_drops(runtime_)); }

}  // namespace hyphos::cosim
