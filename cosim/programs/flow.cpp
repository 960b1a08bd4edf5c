#include "cosim/programs/flow.hpp"

#include <algorithm>
#include <utility>

#include "cosim/programs/acknowledged.hpp"
#include "cosim/programs/ping.hpp"
#include "cosim/programs/plain.hpp"

namespace hyphos::cosim {

std::string_view to_string(FlowKind kind) {
  switch (kind) {
    case FlowKind::stream:
      return "stream";
    case FlowKind::accelerometer:
      return "accelerometer";
    case FlowKind::recording:
      return "recording";
    case FlowKind::file:
      return "file";
    case FlowKind::ping:
      return "ping";
  }
  return "unknown";
}

std::string_view to_string(FlowTransport transport) {
  return transport == FlowTransport::plain ? "plain" : "acknowledged";
}

void Instant::send(const Header& header, std::vector<std::byte> bytes) {
  write_header(header, bytes);
  const bool straight = via_ == kEveryone || header.from == via_ || header.to == via_;
  outbox_.send(header.from, straight ? header.to : via_, Buffer::adopt(std::move(bytes)));
}

double Instant::distance_m(NodeId a, NodeId b) const {
  return length(poses_[b].position - poses_[a].position);
}

double Instant::obstacles_db(NodeId a, NodeId b) const {
  return scene_.loss_db(poses_[a].position, poses_[b].position);
}

Flow::Flow(FlowOptions options, std::uint16_t number, std::uint32_t nodes) : number_(number) {
  if (options.to != kEveryone) {
    receivers_.push_back(options.to);
  } else {
    for (NodeId node = 0; node < nodes; ++node) {
      if (node != options.from) receivers_.push_back(node);
    }
  }
  options.recorded.clear();
  result_.options = std::move(options);
}

Header Flow::hand_over(const Instant& at, std::size_t bytes) {
  const NodeId from = options().from;
  for (const NodeId to : receivers_) {
    Message& message = result_.messages.emplace_back();
    message.to = to;
    message.bytes = bytes;
    message.sent = at.now();
    message.distance_m = at.distance_m(from, to);
    message.obstacles_db = at.obstacles_db(from, to);
  }
  return header(Header::Kind::message, from, options().to, next_++, at.now());
}

void Flow::arrived(std::uint32_t sequence, NodeId to, Time delivered, Time read,
                   std::optional<DelayParts> parts, Duration DelayParts::* rest) {
  const auto receiver = std::ranges::find(receivers_, to);
  const std::size_t place =
      sequence * receivers_.size() + static_cast<std::size_t>(receiver - receivers_.begin());
  if (receiver == receivers_.end() || place >= result_.messages.size()) return;
  Message& message = result_.messages[place];
  if (message.delivered != kNever) return;
  message.delivered = delivered;
  message.read = read;
  if (parts) (*parts).*rest = (*parts).*rest + (delivered - message.sent - parts->sum());
  message.parts = parts;
}

std::unique_ptr<Flow> make_flow(FlowOptions options, std::uint16_t number, std::uint32_t nodes,
                                std::uint64_t seed) {
  auto source = make_source(options, number, seed);
  if (options.kind == FlowKind::ping) {
    return std::make_unique<Ping>(std::move(options), number, nodes, std::move(source));
  }
  if (options.transport == FlowTransport::acknowledged) {
    return std::make_unique<Acknowledged>(std::move(options), number, nodes, std::move(source));
  }
  return std::make_unique<Plain>(std::move(options), number, nodes, std::move(source));
}

}  // namespace hyphos::cosim
