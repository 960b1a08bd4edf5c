#include "cosim/routing/messages.hpp"

#include <concepts>
#include <utility>

namespace hyphos::cosim::routing {
namespace {

enum class Kind : std::uint8_t { data = 0, request = 1, reply = 2, error = 3 };
constexpr std::uint8_t kUnknown = 0x08;  // flag U, in the second byte of a request
constexpr std::size_t kRequestBytes = 24;
constexpr std::size_t kReplyBytes = 20;
constexpr std::size_t kErrorBytes = 4;
constexpr std::size_t kLostBytes = 8;
constexpr std::uint16_t kAll = 0xffff;

/// Writes big-endian numbers one after another.
class Put {
 public:
  explicit Put(std::size_t size) { bytes_.reserve(size); }
  template <std::unsigned_integral Number>
  Put& add(Number value) {
    for (std::size_t i = sizeof(Number); i-- > 0;) {
      bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
    return *this;
  }
  Put& head(Kind kind, std::uint8_t hops_left, std::uint16_t from = 0, std::uint16_t to = 0) {
    return add(static_cast<std::uint8_t>(kind))
        .add(hops_left)
        .add(from)
        .add(to)
        .add(std::uint16_t{0});
  }
  Put& append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  [[nodiscard]] Buffer take() { return Buffer::adopt(std::move(bytes_)); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads big-endian numbers. Beyond the end it returns 0 and fails.
class Take {
 public:
  explicit Take(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <std::unsigned_integral Number>
  Number get() {
    if (bytes_.size() < sizeof(Number)) {
      failed_ = true;
      return 0;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      value = value << 8 | std::to_integer<std::uint64_t>(bytes_[i]);
    }
    bytes_ = bytes_.subspan(sizeof(Number));
    return static_cast<Number>(value);
  }
  /// The number of the node with this address.
  NodeId node(std::uint32_t nodes) {
    const auto address = get<std::uint32_t>();
    failed_ = failed_ || address == 0 || address > nodes;
    return address - 1;
  }
  [[nodiscard]] bool complete() const { return !failed_ && bytes_.empty(); }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  bool failed_ = false;
};

std::uint32_t address(NodeId node) { return node + 1; }

RouteRequest get_request(Take& take, std::uint32_t nodes) {
  RouteRequest request;
  request.unknown_sequence = (take.get<std::uint8_t>() & kUnknown) != 0;
  take.get<std::uint8_t>();
  request.hops = take.get<std::uint8_t>();
  request.id = take.get<std::uint32_t>();
  request.destination = take.node(nodes);
  request.destination_sequence = take.get<std::uint32_t>();
  request.originator = take.node(nodes);
  request.originator_sequence = take.get<std::uint32_t>();
  return request;
}

RouteReply get_reply(Take& take, std::uint32_t nodes) {
  RouteReply reply;
  take.get<std::uint16_t>();
  reply.hops = take.get<std::uint8_t>();
  reply.destination = take.node(nodes);
  reply.destination_sequence = take.get<std::uint32_t>();
  reply.originator = take.node(nodes);
  reply.lifetime_ms = take.get<std::uint32_t>();
  return reply;
}

std::optional<RouteError> get_error(Take& take, std::uint32_t nodes) {
  take.get<std::uint16_t>();
  const auto count = take.get<std::uint8_t>();
  if (take.failed() || count == 0 || take.left() != count * kLostBytes) return std::nullopt;
  RouteError error;
  for (std::uint8_t i = 0; i < count; ++i) {
    RouteError::Lost lost;
    lost.destination = take.node(nodes);
    lost.sequence = take.get<std::uint32_t>();
    error.lost.push_back(lost);
  }
  return error;
}

std::optional<Message> get_control(Take take, std::uint32_t nodes) {
  const auto kind = static_cast<Kind>(take.get<std::uint8_t>());
  Message message;
  switch (kind) {
    case Kind::request:
      message = get_request(take, nodes);
      break;
    case Kind::reply:
      message = get_reply(take, nodes);
      break;
    case Kind::error: {
      auto error = get_error(take, nodes);
      if (!error) return std::nullopt;
      message = std::move(*error);
      break;
    }
    default:
      return std::nullopt;
  }
  if (!take.complete()) return std::nullopt;
  return message;
}

}  // namespace

Buffer encode(const Datagram& datagram) {
  const auto to = datagram.to == kEveryone ? kAll : static_cast<std::uint16_t>(datagram.to);
  return Put(kHeadBytes + datagram.bytes.size())
      .head(Kind::data, datagram.hops_left, static_cast<std::uint16_t>(datagram.from), to)
      .append(datagram.bytes.bytes())
      .take();
}

Buffer encode(const RouteRequest& request, std::uint8_t hops_left) {
  return Put(kHeadBytes + kRequestBytes)
      .head(Kind::request, hops_left)
      .add(static_cast<std::uint8_t>(Kind::request))
      .add(request.unknown_sequence ? kUnknown : std::uint8_t{0})
      .add(std::uint8_t{0})
      .add(request.hops)
      .add(request.id)
      .add(address(request.destination))
      .add(request.destination_sequence)
      .add(address(request.originator))
      .add(request.originator_sequence)
      .take();
}

Buffer encode(const RouteReply& reply, std::uint8_t hops_left) {
  return Put(kHeadBytes + kReplyBytes)
      .head(Kind::reply, hops_left)
      .add(static_cast<std::uint8_t>(Kind::reply))
      .add(std::uint16_t{0})
      .add(reply.hops)
      .add(address(reply.destination))
      .add(reply.destination_sequence)
      .add(address(reply.originator))
      .add(reply.lifetime_ms)
      .take();
}

Buffer encode(const RouteError& error) {
  Put put(kHeadBytes + kErrorBytes + kLostBytes * error.lost.size());
  put.head(Kind::error, 1)
      .add(static_cast<std::uint8_t>(Kind::error))
      .add(std::uint16_t{0})
      .add(static_cast<std::uint8_t>(error.lost.size()));
  for (const RouteError::Lost& lost : error.lost) {
    put.add(address(lost.destination)).add(lost.sequence);
  }
  return put.take();
}

std::optional<Decoded> decode(const Buffer& bytes, std::uint32_t nodes) {
  if (bytes.size() < kHeadBytes) return std::nullopt;
  Take head(bytes.bytes().first(kHeadBytes));
  const auto kind = static_cast<Kind>(head.get<std::uint8_t>());
  const auto hops_left = head.get<std::uint8_t>();
  const auto from = head.get<std::uint16_t>();
  const auto to = head.get<std::uint16_t>();
  if (head.get<std::uint16_t>() != 0) return std::nullopt;
  if (kind == Kind::data) {
    if (from >= nodes || (to != kAll && to >= nodes) || from == to) return std::nullopt;
    const NodeId receiver = to == kAll ? kEveryone : NodeId{to};
    return Decoded{
        Datagram{from, receiver, hops_left, bytes.slice(kHeadBytes, bytes.size() - kHeadBytes)},
        hops_left};
  }
  if (from != 0 || to != 0) return std::nullopt;
  auto message = get_control(Take(bytes.bytes().subspan(kHeadBytes)), nodes);
  if (!message || static_cast<std::size_t>(kind) != message->index()) return std::nullopt;
  return Decoded{std::move(*message), hops_left};
}

}  // namespace hyphos::cosim::routing
