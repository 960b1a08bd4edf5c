#include "cosim/nodes/in_step.hpp"

#include <algorithm>
#include <cstdio>

#include "cosim/nodes/remote_robot.hpp"
#include "wire/packet.hpp"

namespace hyphos::cosim {

Result<InStep> open_in_step(RuntimeOptions options, const std::string& node) {
  options.clock = ClockMode::sim;
  auto runtime = Runtime::open(options);
  if (!runtime) return runtime.error();
  auto made = runtime->node(node);
  if (!made) return made.error();
  SimTimeOptions time_options;
  time_options.start = Time{0};
  time_options.manual = true;
  auto time = SimTime::open(*made, time_options);
  if (!time) return time.error();
  return InStep{std::move(*runtime), std::move(*made), std::move(*time)};
}

SubscriptionOptions where_it_is_published() {
  SubscriptionOptions options;
  options.mode = Mode::inline_;
  return options;
}

void publish_reading(std::vector<RawPublisher>& sensors, const Reading& reading) {
  if (reading.sensor >= sensors.size()) return;
  BufferList attached;
  for (const Buffer& buffer : reading.attached) {
    if (!attached.full()) attached.push_back(buffer);
  }
  sensors[reading.sensor].publish(reading.message, attached);
}

Buffer packet_of(const OpenChannel& channel, const Message<RawMessage>& message,
                 std::uint64_t sender, Time now) {
  Envelope envelope{{}, message->payload, message->buffers};
  envelope.meta.type_hash = channel.type.hash;
  envelope.meta.sequence = message.sequence();
  envelope.meta.sender = sender;
  envelope.meta.replayed = message.replayed();
  envelope.meta.stamps.publish = now.ns;
  return Buffer::adopt(wire::encode_packet(channel.name, channel.type, envelope, {}));
}

DropSums sum_drops(Runtime& runtime) {
  DropSums sums;
  for (const EndpointInfo& end : runtime.endpoints()) {
    for (const auto& [name, count] : end.counters) {
      if (name.starts_with("drop.")) sums[{end.channel, name}] += count;
    }
  }
  return sums;
}

std::vector<RobotDrops> drops_of(const DropSums& sums) {
  std::vector<RobotDrops> all;
  all.reserve(sums.size());
  for (const auto& [what, count] : sums) all.push_back({what.first, what.second, count});
  return all;
}

Result<void> Arrivals::open(Node& node, const Wiring::Inbound& inbound,
                            const std::string& channel) {
  auto publisher = node.raw_publisher(channel, inbound.type);
  if (!publisher) return publisher.error();
  inbound_.push_back({inbound, std::move(*publisher)});
  return success();
}

Result<bool> Arrivals::publish(const RobotInput::Arrived& arrived, const std::string& robot) {
  auto decoded = wire::decode_packet(arrived.packet);
  if (!decoded) return decoded.error();
  const wire::Header& head = decoded->header;
  const auto inbound = std::ranges::find_if(inbound_, [&](const Inbound& known) {
    return known.wiring.sent_as == head.channel && among(known.wiring.from, arrived.from);
  });
  if (inbound == inbound_.end()) return false;
  if (head.type != inbound->wiring.type) {
    return Error{Code::type_mismatch,
                 "a packet of channel '" + head.channel + "' carries " + head.type.name +
                     " instead of " + inbound->wiring.type.name,
                 robot};
  }
  {
    const MutexLock lock(mutex_);
    foreign_.insert(head.meta.sender);
  }
  decoded->envelope.meta = head.meta;
  inbound->publisher.bring(decoded->envelope);
  return true;
}

bool Arrivals::is_foreign(std::uint64_t sender) const {
  const MutexLock lock(mutex_);
  return foreign_.contains(sender);
}

int serve_robot(const char* program, int link_fd,
                const std::function<Result<std::unique_ptr<RobotNodes>>()>& make) {
  auto channel = IpcChannel::open(UniqueFd(link_fd));
  if (!channel) {
    std::fprintf(stderr, "%s: %s\n", program, channel.error().to_string().c_str());
    return 1;
  }
  auto robot = make();
  if (!robot) {
    serve_failure(*channel, robot.error());
    return 1;
  }
  serve(*channel, **robot);
  return 0;
}

}  // namespace hyphos::cosim
