#pragma once

#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyphos/gateway.hpp"
#include "hyphos/hyphos.hpp"
#include "hyphos/msgs/sensor.pb.h"
#include "lab/common/peer.hpp"

namespace hyphos::lab {

// The common part of the gateway peers: a Hyphos node as one endpoint, a program of another system
// as the other. The gateway is on the machine of the node, as a daemon of the peer or in the
// process of the node. Messages are images whose payload is their pixels.

/// True if messages leave the robot: the node publishes, and the other program subscribes.
inline bool goes_out(std::string_view variant) { return variant.ends_with("out"); }

/// The machine of the node.
inline const Machine& node_machine(const Options& options) {
  return goes_out(options.variant) ? options.near() : options.far();
}

/// The machine of the gateway: its own machine, or that of the node.
inline const Machine& gateway_machine(const Options& options) {
  return options.relay_is_apart() ? options.relay_machine() : node_machine(options);
}

inline const std::string& gateway_host(const Options& options) {
  return gateway_machine(options).address;
}

/// The port after the ports of the edges.
inline std::uint16_t gateway_port(const Options& options) {
  return options.port(Options::kMaxEdges);
}

inline std::string gateway_domain(const Options& options) {
  return "lab" + std::to_string(options.run_id);
}

/// True if the gateway is in the process of the node, and not in its own process.
inline bool is_direct(std::string_view variant) { return variant.starts_with("direct_"); }

/// The process of the node.
inline std::string node_process(const Options& options) {
  return process_name(goes_out(options.variant) ? "pub" : "sub", 0);
}

inline std::string relay_plan(const Options& options) { return options.run_dir + "/relay.yaml"; }

/// The plan for a gateway on its own machine. It has two hosts, so that messages between gateway
/// and node cross the link. They do not use the memory that all namespaces of one machine share.
inline void write_relay_plan(const Options& options, const std::string& gateway_node) {
  const auto port = [&](int which) { return std::to_string(options.port(which)); };
  const std::string relay = options.relay_machine().address;
  const std::string robot = node_machine(options).address;
  const std::string node = node_process(options);
  const bool out = goes_out(options.variant);
  std::ofstream plan(relay_plan(options));
  plan << "hyphos: 1\nhosts:\n  relay: {address: " << relay << "}\n  robot: {address: " << robot
       << "}\nprocesses:\n  gateway: {host: relay, endpoint: \"tcp://" << relay << ":" << port(0)
       << "\"}\n  " << node << ": {host: robot, endpoint: \"tcp://" << robot << ":" << port(1)
       << "\"}\nnodes:\n  " << gateway_node << ": {process: gateway}\n  " << node
       << ": {process: " << node << "}\nchannels:\n  " << make_edge(options, 0, 0).name
       << ": {transport: zmq, publishers: [" << (out ? node : gateway_node) << "], subscribers: ["
       << (out ? gateway_node : node) << "]}\n";
}

/// The command line of a gateway in its own process.
inline std::vector<std::string> gateway_command(const Options& options,
                                                const std::vector<std::string>& words) {
  if (options.worker_python.empty()) {
    throw std::invalid_argument("--worker-python: missing: `hyphos lab` sets it");
  }
  std::vector<std::string> command = {options.worker_python, "-m", "hyphos", "gateway"};
  command.insert(command.end(), words.begin(), words.end());
  if (options.relay_is_apart()) {
    write_relay_plan(options, words.front());
    command.insert(command.end(), {"--hyphos-domain", gateway_domain(options), "--hyphos-process",
                                   "gateway", "--hyphos-plan", relay_plan(options)});
  } else {
    command.insert(command.end(), {"--domain", gateway_domain(options)});
  }
  return command;
}

/// The gateway in the process of the node.
inline Gateway open_gateway(Runtime runtime, const Options& options,
                            const std::vector<std::string>& words) {
  setenv("HYPHOS_PYTHON", options.worker_python.c_str(), 1);
  return Gateway::open(runtime.node("gateway").or_throw(), words).or_throw();
}

/// The node. Pixels are written and read in place.
class ImageNode final : public Peer {
 public:
  explicit ImageNode(const Options& options) : Peer(options) {
    RuntimeOptions how;
    how.domain = gateway_domain(options);
    how.process = process_name(options.role, options.index);
    if (options.relay_is_apart()) how.plan_file = relay_plan(options);
    node_ = Node::open(how.process, how).or_throw();
  }
  /// The runtime. A gateway may add a node to it.
  [[nodiscard]] Runtime runtime() const { return node_->runtime(); }

  void open_publisher(const Edge& edge) override {
    publisher_ = node_->publisher<Image>(edge.name, {.policy = policy()});
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    SubscriptionOptions how;
    how.mode = Mode::inline_;
    how.policy = policy();
    node_->subscribe<Image>(edge.name, how,
                            [hear = std::move(on_message)](const Message<Image>& message) {
                              const Buffer& pixels = message->buffers[0];
                              hear(pixels.data(), pixels.size());
                            });
  }
  void publish(std::size_t size, Fill fill) override {
    Image image;
    image.head.set_width(static_cast<std::uint32_t>(size));
    image.head.set_height(1);
    image.head.set_step(static_cast<std::uint32_t>(size));
    image.head.set_encoding("mono8");
    WritableBuffer pixels = publisher_->loan_bytes(size);
    fill(pixels.data());
    image.buffers.push_back(std::move(pixels).freeze());
    publisher_->publish(std::move(image));
  }

 private:
  using Image = Attached<msgs::Image>;

  [[nodiscard]] Policy policy() const {
    // In uncapped runs, the node waits if the gateway allows it.
    if (options_.uncapped()) return reliable_policy(options_.size >= (8u << 20) ? 4 : 64);
    Policy policy;
    policy.depth = options_.size >= (8u << 20) ? 4 : 64;
    return policy;
  }

  std::optional<Node> node_;
  std::optional<Publisher<Image>> publisher_;
};

/// One process of a run: the node, or an `Outside` on the other side of the gateway, which is a
/// peer of its own system. `Self` has words(options): the arguments of `hyphos gateway`.
template <class Self, class Outside>
class GatewayEnd : public Peer {
 public:
  static std::vector<std::string> daemon(const Options& options) {
    if (is_direct(options.variant)) return {};
    return gateway_command(options, Self::words(options));
  }
  static const Machine& daemon_machine(const Options& options) { return gateway_machine(options); }

  explicit GatewayEnd(const Options& options) : Peer(options) {
    if ((options.role == "pub") != goes_out(options.variant)) {
      end_ = std::make_unique<Outside>(options);
      return;
    }
    auto node = std::make_unique<ImageNode>(options);
    if (is_direct(options.variant)) {
      gateway_ = open_gateway(node->runtime(), options, Self::words(options));
    }
    end_ = std::move(node);
  }
  void open_publisher(const Edge& edge) override { end_->open_publisher(edge); }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    end_->open_subscriber(edge, std::move(on_message));
  }
  void publish(std::size_t size, Fill fill) override { end_->publish(size, fill); }
  void spin(const std::function<bool()>& stopped) override { end_->spin(stopped); }

 private:
  std::unique_ptr<Peer> end_;
  std::optional<Gateway> gateway_;
};

}  // namespace hyphos::lab
