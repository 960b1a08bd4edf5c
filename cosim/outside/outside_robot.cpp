#include "cosim/outside/outside_robot.hpp"

#include <poll.h>

#include <algorithm>
#include <tuple>

#include "cosim/nodes/motion_messages.hpp"
#include "wire/packet.hpp"

namespace hyphos::cosim {
namespace {

/// The number of the DDS domain in "dds://127.0.0.1/7".
std::string domain_of(const std::string& address) { return address.substr(address.rfind('/') + 1); }

}  // namespace

Result<std::unique_ptr<OutsideRobot>> OutsideRobot::open(const OutsideOptions& options) {
  auto step = Step::from_rate(options.clock_rate_hz);
  if (!step) return step.error();
  std::unique_ptr<OutsideRobot> robot(new OutsideRobot(options, *step));
  auto body = Body::open(options.names, [made = robot.get()](const Motion& motion) {
    const MutexLock lock(made->mutex_);
    made->motion_ = motion;
    made->activity_.fetch_add(1);
  });
  if (!body) return body.error();
  robot->body_ = std::move(*body);
  robot->children_.set("HYPHOS_DOMAIN", options.names.domain);
  robot->children_.set("PYTHONUNBUFFERED", "1");
  robot->children_.set("PYTHONHASHSEED", "0");
  if (auto started = robot->start_gateway(); !started) return started.error();
  if (!options.run.empty()) {
    if (auto started = robot->children_.start("program", options.run, options.folder); !started) {
      return started.error();
    }
  }
  return robot;
}

OutsideRobot::~OutsideRobot() {
  children_.end();
  body_.reset();  // its callbacks use the other members
}

Result<void> OutsideRobot::start_gateway() {
  if (options_.gateway.empty()) return success();
  auto address =
      children_.start_and_read("gateway", options_.gateway, options_.folder, options_.timeout);
  if (!address) return address.error();
  if (address->starts_with("dds://")) {
    children_.set("ROS_DOMAIN_ID", domain_of(*address));
  } else if (address->starts_with("http://")) {
    children_.set("ROS_MASTER_URI", *address);
    children_.set("ROS_HOSTNAME", "127.0.0.1");
    if (!options_.names.prefix.empty()) children_.set("ROS_NAMESPACE", options_.names.prefix);
  }
  return success();
}

Result<void> OutsideRobot::rest() {
  return rest_.wait(
      options_.timeout, options_.rest, [this] { return activity_.load(); },
      [this] { return children_.check(); });
}

/// Programs of ROS open their topics one after the other, and a gateway looks for new ones once a
/// second.
Result<void> OutsideRobot::wait_until_open(const std::vector<std::string>& channels) {
  const Time end = monotonic_now() + options_.timeout;
  while (true) {
    if (auto fine = children_.check(); !fine) return fine;
    auto opened = body_->opened_by_programs();
    if (!opened) return opened.error();
    const auto missing = std::ranges::find_if(channels, [&](const std::string& channel) {
      return !opened->contains(body_->outer(channel)) && !opened->contains(channel);
    });
    for (const auto& [name, type] : *opened) open_.insert_or_assign(body_->inner(name), type);
    if (missing == channels.end()) return success();
    if (monotonic_now() > end) {
      std::string names;
      for (const auto& [name, type] : open_) names += " " + name;
      return Error{Code::timeout,
                   "no program has opened channel '" + *missing + "' within " +
                       std::to_string(options_.timeout.ns / 1'000'000) +
                       " ms. `body.wait_for` lists the channels to wait for. Open are:" + names,
                   *missing};
    }
    ::poll(nullptr, 0, 20);
  }
}

/// DDS connects a reader and a writer by messages at real times, and does not report when a reader
/// of another program is complete.
Result<void> OutsideRobot::wait_for_discovery() {
  const Time end = monotonic_now() + options_.discovery;
  while (monotonic_now() < end) {
    if (auto fine = children_.check(); !fine) return fine;
    ::poll(nullptr, 0, 20);
  }
  return success();
}

Result<std::vector<OpenChannel>> OutsideRobot::channels() {
  if (auto open = wait_until_open(options_.wait_for); !open) return open.error();
  if (auto waited = wait_for_discovery(); !waited) return waited.error();
  if (auto rested = rest(); !rested) return rested.error();
  if (auto open = wait_until_open({}); !open) return open.error();
  open_.insert_or_assign(options_.names.pose_channel, odometry_type());
  open_.insert_or_assign(options_.names.command_channel, twist_type());
  for (const SensorChannel& sensor : options_.names.sensors) {
    open_.insert_or_assign(sensor.name, sensor.type);
  }
  std::vector<OpenChannel> all;
  all.reserve(open_.size());
  for (const auto& [name, type] : open_) all.push_back({name, type});
  return all;
}

Result<void> OutsideRobot::wire(const Wiring& wiring) {
  for (std::uint32_t i = 0; i < wiring.outbound_channels.size(); ++i) {
    const std::string& name = wiring.outbound_channels[i];
    if (auto opened = open_outbound(i, {name, open_.at(name)}); !opened) return opened;
  }
  std::vector<std::string> expected;
  for (const Wiring::Inbound& inbound : wiring.inbound_channels) {
    const std::string channel = body_->outer(inbound.channel);
    if (auto opened = arrivals_.open(body_->node(), inbound, channel); !opened) return opened;
    expected.push_back(inbound.channel);
  }
  if (auto open = wait_until_open(expected); !open) return open;
  if (!expected.empty()) {
    if (auto waited = wait_for_discovery(); !waited) return waited;
  }
  return rest();
}

Result<void> OutsideRobot::open_outbound(std::uint32_t outbound, const OpenChannel& channel) {
  auto opened = body_->opened_by_programs();
  if (!opened) return opened.error();
  const std::string outer = body_->outer(channel.name);
  auto subscription = body_->node().raw_subscribe(
      opened->contains(outer) ? outer : channel.name, channel.type, where_it_is_published(),
      [this, outbound, channel](const Message<RawMessage>& message) {
        send(outbound, channel, message);
      });
  return subscription ? success() : Result<void>(subscription.error());
}

void OutsideRobot::send(std::uint32_t outbound, const OpenChannel& channel,
                        const Message<RawMessage>& message) {
  if (arrivals_.is_foreign(message.sender())) return;
  const MutexLock lock(mutex_);
  activity_.fetch_add(1);
  auto& senders = senders_[outbound];
  const std::string name =
      options_.names.robot + '/' + channel.name + '/' + std::to_string(senders.size());
  const std::uint64_t sender =
      senders.try_emplace(message.sender(), wire::fnv1a(name)).first->second;
  sent_.push_back(
      {outbound, sender, message.sequence(), packet_of(channel, message, sender, body_->now())});
}

Result<void> OutsideRobot::receive(const RobotInput::Arrived& arrived) {
  const auto published = arrivals_.publish(arrived, options_.names.robot);
  if (!published) return published.error();
  return *published ? rest() : success();
}

Result<void> OutsideRobot::begin(const RobotInput& input) {
  input_ = &input;
  return success();
}

Result<RobotOutput> OutsideRobot::finish() {
  const Time now = input_->now;
  if (now > body_->now()) {
    body_->set_time(now);
    if (auto rested = rest(); !rested) return rested.error();
  }
  if (input_->pose) {
    body_->publish_pose(*input_->pose, now);
    if (auto rested = rest(); !rested) return rested.error();
    if (body_->publish_frame(*input_->pose, now)) {
      if (auto rested = rest(); !rested) return rested.error();
    }
  }
  for (const Reading& reading : input_->readings) {
    body_->publish(reading);
    if (auto rested = rest(); !rested) return rested.error();
  }
  for (const RobotInput::Arrived& arrived : input_->packets) {
    if (auto received = receive(arrived); !received) return received.error();
  }
  return take();
}

RobotOutput OutsideRobot::take() {
  RobotOutput output;
  const MutexLock lock(mutex_);
  // The senders are separate processes, so the order of arrival is that of the machine.
  std::ranges::stable_sort(sent_, [](const Sent& a, const Sent& b) {
    return std::tie(a.outbound, a.sender, a.sequence) < std::tie(b.outbound, b.sender, b.sequence);
  });
  for (Sent& sent : sent_) output.sent.push_back({sent.outbound, std::move(sent.packet)});
  sent_.clear();
  output.motion = std::exchange(motion_, std::nullopt);
  output.next = clock_step_.at(clock_step_.index_at_or_before(input_->now) + 1).value();
  return output;
}

Result<std::vector<RobotDrops>> OutsideRobot::drops() {
  DropSums sums;
  for (const auto& [what, count] : sum_drops(body_->runtime())) {
    sums[{body_->inner(what.first), what.second}] += count;
  }
  if (body_->unreadable() > 0) {
    sums[{options_.names.command_channel, "drop.command.unreadable"}] += body_->unreadable();
  }
  return drops_of(sums);
}

}  // namespace hyphos::cosim
