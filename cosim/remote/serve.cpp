#include "cosim/remote/serve.hpp"

#include <optional>

#include "cosim/remote/codec.hpp"

namespace hyphos::cosim {
namespace {

/// The parts of the protocol that networks and physics share. Every reply begins with 0, or with 1
/// and an error.
class Server {
 public:
  explicit Server(IpcChannel& channel) : channel_(channel) {}

  /// Returns nothing when there is no further request.
  [[nodiscard]] std::optional<Reader> next() {
    if (!channel_.receive(request_, kNever, {})) return std::nullopt;
    Reader reader(request_);
    return reader;
  }

  Writer& begin() {
    answer_.clear();
    answer_.put(std::uint8_t{0});
    return answer_;
  }
  bool send() { return static_cast<bool>(channel_.send(answer_.bytes())); }
  bool send(const Result<void>& result) {
    begin();
    if (!result) fail(result.error());
    return send();
  }
  void fail(const Error& error) {
    answer_.clear();
    answer_.put(std::uint8_t{1});
    put_error(answer_, error);
  }

  bool save(const Simulator& simulator) {
    auto state = simulator.save();
    if (!state) return send(state.error());
    begin().put_block(*state);
    return send();
  }
  bool restore(Simulator& simulator, Reader& reader) {
    return send(simulator.restore(reader.get_block()));
  }

 private:
  IpcChannel& channel_;
  std::vector<std::byte> request_;
  Writer answer_;
};

class NetworkServer {
 public:
  NetworkServer(IpcChannel& channel, Network& network)
      : server_(channel), network_(network), capacity_(channel.capacity()) {}

  void run() {
    while (auto request = server_.next()) {
      if (!answer(*request)) return;
    }
  }

 private:
  bool answer(Reader& request) {
    switch (request.get<Request>()) {
      case Request::init: {
        const auto nodes = request.get<std::uint32_t>();
        const auto seed = request.get<std::uint64_t>();
        nodes_ = nodes;
        if (auto made = network_.init(nodes, seed); !made) return server_.send(made);
        return tell();  // the network may have events of its own
      }
      case Request::step:
        return step(request);
      case Request::more:
        return tell();
      case Request::save:
        return server_.save(network_);
      case Request::restore:
        return server_.restore(network_, request);
      case Request::steer:
      case Request::quit:
        return false;
    }
    return false;
  }

  Result<void> take(Reader& request) {
    if (request.get<std::uint8_t>() != 0) {
      poses_.resize(nodes_);
      for (Pose& pose : poses_) pose = request.get<Pose>();
      if (request.failed()) return Error{Code::corrupt, "poses are missing", "cosim"};
      if (auto set = network_.set_poses(poses_); !set) return set;
    }
    const auto packets = request.get<std::uint32_t>();
    for (std::uint32_t i = 0; i < packets && !request.failed(); ++i) {
      const Packet packet = get_packet(request);
      if (auto taken = network_.inject(packet); !taken) return taken;
    }
    const Time end{request.get<std::int64_t>()};
    if (!request.complete()) return Error{Code::corrupt, "a truncated request", "cosim"};
    if (end == kNever) return success();  // more packets follow before time advances
    if (auto ran = network_.advance(end); !ran) return ran;
    return network_.poll(outcomes_);
  }

  bool step(Reader& request) {
    if (auto taken = take(request); !taken) return server_.send(taken);
    return tell();
  }

  /// Replies with as many outcomes as fit into one message.
  bool tell() {
    Writer& answer = server_.begin();
    answer.put(network_.next_event_time().ns);
    const std::size_t count_at = answer.size();
    answer.put(std::uint32_t{0});
    answer.put(std::uint8_t{0});
    std::uint32_t count = 0;
    for (; told_ < outcomes_.size(); ++told_, ++count) {
      if (answer.size() + outcome_size(outcomes_[told_]) > capacity_) break;
      put_outcome(answer, outcomes_[told_]);
    }
    const bool more = told_ < outcomes_.size();
    if (more && count == 0) {
      server_.fail({Code::exhausted, "an outcome does not fit into a message", "cosim"});
      return server_.send();
    }
    answer.replace(count_at, count);
    answer.replace(count_at + sizeof count, static_cast<std::uint8_t>(more));
    if (!more) {
      outcomes_.clear();
      told_ = 0;
    }
    return server_.send();
  }

  Server server_;
  Network& network_;
  std::size_t capacity_;
  std::uint32_t nodes_ = 0;
  std::vector<Pose> poses_;
  std::vector<Outcome> outcomes_;
  std::size_t told_ = 0;
};

void put_poses(Writer& answer, const Physics& physics) {
  answer.put(physics.next_event_time().ns);
  answer.put_bytes(std::as_bytes(physics.poses()));
}

bool tell_poses(Server& server, const Physics& physics, const Result<void>& result) {
  if (!result) return server.send(result);
  put_poses(server.begin(), physics);
  return server.send();
}

bool steer(Server& server, Physics& physics, Reader& request) {
  const auto robot = request.get<NodeId>();
  const auto motion = request.get<Motion>();
  if (!request.complete()) return false;
  const auto left_out = physics.steer(robot, motion);
  if (!left_out) return server.send(left_out.error());
  Writer& answer = server.begin();
  answer.put_text(*left_out);
  put_poses(answer, physics);
  return server.send();
}

bool answer(Server& server, Reader& request, Physics& physics) {
  switch (request.get<Request>()) {
    case Request::init: {
      const auto nodes = request.get<std::uint32_t>();
      const auto seed = request.get<std::uint64_t>();
      return tell_poses(server, physics, physics.init(nodes, seed));
    }
    case Request::step:
      return tell_poses(server, physics, physics.advance({request.get<std::int64_t>()}));
    case Request::steer:
      return steer(server, physics, request);
    case Request::save:
      return server.save(physics);
    case Request::restore:
      return tell_poses(server, physics, physics.restore(request.get_block()));
    case Request::more:
    case Request::quit:
      return false;
  }
  return false;
}

}  // namespace

void serve(IpcChannel& channel, Network& network) { NetworkServer(channel, network).run(); }

void serve(IpcChannel& channel, Physics& physics) {
  Server server(channel);
  while (auto request = server.next()) {
    if (!answer(server, *request, physics)) return;
  }
}

}  // namespace hyphos::cosim
