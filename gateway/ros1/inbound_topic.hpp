#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/net/stream.hpp"
#include "gateway/ros1/header.hpp"
#include "gateway/ros1/rpc.hpp"
#include "gateway/ros1/tcpros_server.hpp"
#include "gateway/ros1/traffic.hpp"

namespace hyphos::gateway::ros1 {

/// What one publisher of ROS sends on one topic, brought into the graph. It connects, and when the
/// connection ends it tries again, less and less often, until it is stopped: whether the publisher
/// is still there is for the master to say.
///
/// start() and stop() belong to the thread of the calls (that of `client`); messages are published
/// in the threads of the connections.
class InboundTopic final : public std::enable_shared_from_this<InboundTopic> {
 public:
  static constexpr Duration kFirstPause = Duration::from_ms(100);
  static constexpr Duration kLongestPause = Duration::from_seconds(5);
  /// After a refusal, by the publisher or by the graph, which will hardly change its mind.
  static constexpr Duration kPauseAfterRefusal = Duration::from_seconds(30);

  /// `calls` is the loop of `client`; it and `place` outlive the feed.
  InboundTopic(const Context& context, net::Loop& calls, RpcClient& client, std::string topic,
               TypeInfo type, std::string uri);

  void start();
  void stop();
  /// The publisher's name; its URI until that is known.
  [[nodiscard]] std::string publisher() const;
  [[nodiscard]] ConnectionInfo info() const;

 private:
  // In the thread of the calls:
  void ask();
  void asked(const Result<Value>& answer);
  void begin(Result<net::Connection> connection);
  void ended();
  void again(const std::string& why);
  void ask_later();

  // In those of the connection:
  void greeted(std::span<const std::byte> bytes);
  void take(const Buffer& unit);
  /// Memory for a large message of so many bytes.
  [[nodiscard]] WritableBuffer lend(std::size_t size);
  /// False while its last message waits for room.
  [[nodiscard]] bool ready();
  void refused(std::string_view why, const std::string& text);

  const Context& context_;
  net::Loop& calls_;
  RpcClient& client_;
  const std::string topic_;
  const TypeInfo type_;
  const std::string uri_;
  const std::int32_t id_;
  Traffic traffic_;

  // Of the calls' thread:
  bool stopped_ = false;
  bool logged_ = false;  ///< why there is no connection, since there was one
  Duration pause_ = kFirstPause;
  net::Timer timer_;

  std::atomic<bool> connected_ = false;
  mutable std::mutex mutex_;  ///< of these two
  std::shared_ptr<net::Stream> stream_;
  Client publisher_;

  // Of the connection's threads, one at a time:
  std::unique_ptr<ClientPublisher> graph_publisher_;
  LoanBudget::Share share_;  ///< of the memory that is lent
};

}  // namespace hyphos::gateway::ros1
