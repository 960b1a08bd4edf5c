#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gateway/net/listener.hpp"
#include "gateway/ros1/header.hpp"
#include "gateway/ros1/methods.hpp"
#include "gateway/ros1/rpc.hpp"
#include "tests/gateway/raw_client.hpp"

namespace hyphos::gateway::ros1 {

/// A node with the wire behaviour of ROS.NET. The header of its publisher names no topic and has
/// latching=False. Its service (std_srvs/SetBool) replies without a length.
class RosNetStub {
 public:
  RosNetStub() {
    const auto answer = [this](const RpcCall& call, const net::Address&, const RpcReply& reply) {
      if (call.method != "requestTopic") return reply(outcome(1, "", 0));
      reply(outcome(1, "", list_of("TCPROS", "127.0.0.1", port())));
    };
    calls_ = RpcServer::open(*loop_, {}, answer).or_throw();
    listener_ =
        net::Listener::open(*loop_, {},
                            {.accepted = [this](net::Connection one) { serve(std::move(one)); },
                             .refused = nullptr})
            .or_throw();
  }
  ~RosNetStub() { loop_.reset(); }
  RosNetStub(const RosNetStub&) = delete;
  RosNetStub& operator=(const RosNetStub&) = delete;

  [[nodiscard]] std::string uri() const {
    return "http://127.0.0.1:" + std::to_string(calls_->port()) + "/";
  }
  [[nodiscard]] std::string rosrpc() const {
    return "rosrpc://127.0.0.1:" + std::to_string(port());
  }

 private:
  [[nodiscard]] std::int32_t port() const { return listener_->port(); }

  static std::string frame(RawClient& peer) {
    const std::string length = peer.receive(4);
    if (length.size() < 4) return {};
    return peer.receive(read_length(std::as_bytes(std::span(length.data(), length.size()))));
  }
  static void greet(RawClient& peer, const Header& header) {
    const auto bytes = write_header(header);
    peer.send({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  // Blocks the loop, which has no other user.
  void serve(net::Connection connection) {
    RawClient peer(std::move(connection.fd));
    const std::string said = frame(peer);
    const auto header = parse_header(std::as_bytes(std::span(said.data(), said.size())));
    if (!header) return;  // the peer has closed before
    if (header->contains("service")) {
      greet(peer, {{"callerid", "/net"},
                   {"md5sum", "09fb03525b03e7ea1fd3992bafd87e16"},
                   {"type", "std_srvs/SetBool"}});
      if (is_set(*header, "probe") || frame(peer).empty()) return;
      peer.send(std::string_view("\x01\x01\x02\0\0\0ok", 8));
      return;
    }
    greet(peer, {{"message_definition", "string data"},
                 {"latching", "False"},
                 {"type", "std_msgs/String"},
                 {"callerid", "/net"},
                 {"md5sum", "992ce8a1687cec8c8bd883ec73ca41d1"}});
    peer.send(std::string_view("\x06\0\0\0\x02\0\0\0hi", 10));
    subscribers_.push_back(std::move(peer));
  }

  std::vector<RawClient> subscribers_;
  std::unique_ptr<net::Loop> loop_ = std::make_unique<net::Loop>();
  std::unique_ptr<RpcServer> calls_;
  std::unique_ptr<net::Listener> listener_;
};

}  // namespace hyphos::gateway::ros1
