#include "cosim/nodes/local_robot.hpp"

#include <algorithm>
#include <exception>

#include "cosim/nodes/motion_messages.hpp"
#include "wire/packet.hpp"

namespace hyphos::cosim {
namespace {

constexpr const char* kOurNode = "cosim";

SubscriptionOptions where_it_is_published() {
  SubscriptionOptions options;
  options.mode = Mode::inline_;
  return options;
}

}  // namespace

Result<std::unique_ptr<LocalRobot>> LocalRobot::open(const RobotOptions& options) {
  RuntimeOptions how;
  how.plan_file = options.plan;
  how.process = options.name;
  how.overrides = options.settings;
  how.lockstep = true;
  how.lockstep_nodes = options.nodes;
  how.clock = ClockMode::sim;
  auto runtime = Runtime::open(how);
  if (!runtime) return runtime.error();
  auto node = runtime->node(kOurNode);
  if (!node) return node.error();
  SimTimeOptions time_options;
  time_options.start = Time{0};
  time_options.manual = true;
  auto time = SimTime::open(*node, time_options);
  if (!time) return time.error();
  return std::unique_ptr<LocalRobot>(
      new LocalRobot(options, std::move(*runtime), std::move(*node), std::move(*time)));
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
      if (auto opened = open_inbound(inbound); !opened) return opened;
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

Result<void> LocalRobot::open_inbound(const Wiring::Inbound& inbound) {
  auto publisher = node_.raw_publisher(inbound.channel, inbound.type);
  if (!publisher) return publisher.error();
  inbound_.push_back({inbound, std::move(*publisher)});
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
  const MutexLock lock(mutex_);
  if (foreign_.contains(message.sender())) return;
  Envelope envelope{{}, message->payload, message->buffers};
  envelope.meta.type_hash = channel.type.hash;
  envelope.meta.sequence = message.sequence();
  envelope.meta.sender = stable_sender(message.sender(), channel.name);
  envelope.meta.replayed = message.replayed();
  envelope.meta.stamps.publish = time_.now().ns;
  output_.sent.push_back(
      {outbound, Buffer::adopt(wire::encode_packet(channel.name, channel.type, envelope, {}))});
}

Result<void> LocalRobot::receive(const RobotInput::Arrived& arrived) {
  auto decoded = wire::decode_packet(arrived.packet);
  if (!decoded) return decoded.error();
  const wire::Header& head = decoded->header;
  const auto inbound = std::ranges::find_if(inbound_, [&](const Inbound& known) {
    return known.wiring.sent_as == head.channel && among(known.wiring.from, arrived.from);
  });
  if (inbound == inbound_.end()) return success();  // a channel for other robots
  if (head.type != inbound->wiring.type) {
    return Error{Code::type_mismatch,
                 "a packet of channel '" + head.channel + "' carries " + head.type.name +
                     " instead of " + inbound->wiring.type.name,
                 options_.name};
  }
  {
    const MutexLock lock(mutex_);
    foreign_.insert(head.meta.sender);
  }
  decoded->envelope.meta = head.meta;
  inbound->publisher.bring(decoded->envelope);
  return success();
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
  for (const Reading& reading : input.readings) {
    if (reading.sensor >= sensors_.size()) continue;
    BufferList attached;
    for (const Buffer& buffer : reading.attached) {
      if (!attached.full()) attached.push_back(buffer);
    }
    sensors_[reading.sensor].publish(reading.message, attached);
  }
  for (const RobotInput::Arrived& arrived : input.packets) {
    if (received_ = receive(arrived); !received_) return;
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

Result<std::vector<RobotDrops>> LocalRobot::drops() {
  std::map<std::pair<std::string, std::string>, std::uint64_t> sums;
  for (const EndpointInfo& end : runtime_.endpoints()) {
    for (const auto& [name, count] : end.counters) {
      if (name.starts_with("drop.")) sums[{end.channel, name}] += count;
    }
  }
  std::vector<RobotDrops> all;
  all.reserve(sums.size());
  for (const auto& [what, count] : sums) all.push_back({what.first, what.second, count});
  return all;
}

}  // namespace hyphos::cosim
