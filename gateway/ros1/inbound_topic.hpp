#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/mutex.hpp"
#include "gateway/facade/topics.hpp"
#include "gateway/net/stream.hpp"
#include "gateway/ros1/header.hpp"
#include "gateway/ros1/rpc.hpp"
#include "gateway/ros1/tcpros_server.hpp"
#include "gateway/ros1/traffic.hpp"

namespace hyphos::gateway::ros1 {

/// Brings the messages of one ROS publisher on one topic into the graph. It connects, and
/// reconnects at growing intervals after the connection ends, until it is stopped. Only the master
/// decides if the publisher still exists.
///
/// Threads: start() and stop() belong to the call thread (the loop of `client`). Messages are
/// published in the threads of the connections.
class InboundTopic final : public std::enable_shared_from_this<InboundTopic> {
 public:
  static constexpr Duration kFirstPause = Duration::from_ms(100);
  static constexpr Duration kLongestPause = Duration::from_seconds(5);
  /// After a refusal by the publisher or the graph, which will hardly change soon.
  static constexpr Duration kPauseAfterRefusal = Duration::from_seconds(30);

  /// `calls` is the loop of `client`. `calls` and `place` must outlive this object.
  InboundTopic(const Context& context, net::Loop& calls, RpcClient& client, std::string topic,
               TypeInfo type, std::string uri);

  void start();
  void stop();
  /// The publisher's name. Until it is known, the publisher's URI.
  [[nodiscard]] std::string publisher() const;
  [[nodiscard]] ConnectionInfo info() const;

 private:
  /// The publisher as a client of the graph.
  [[nodiscard]] Client known_publisher() const;

  // In the call thread:
  void ask();
  void asked(const Result<Value>& answer);
  void begin(Result<net::Connection> connection);
  void ended();
  void again(const std::string& why);
  void ask_later();

  // In the threads of the connection:
  void greeted(std::span<const std::byte> bytes);
  void take(const Buffer& unit, Time arrived);
  void take_line(std::span<const std::byte> message, Time arrived);
  /// Memory for a large message of `size` bytes.
  [[nodiscard]] WritableBuffer lend(std::size_t size);
  /// Returns false while the last message waits for room in the graph.
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

  // Owned by the call thread:
  bool stopped_ = false;
  bool logged_ = false;  ///< the reason for the lost connection is already logged
  Duration pause_ = kFirstPause;
  net::Timer timer_;

  std::atomic<bool> connected_ = false;
  mutable Mutex mutex_;
  std::shared_ptr<net::Stream> stream_ HYPHOS_GUARDED_BY(mutex_);
  Client publisher_ HYPHOS_GUARDED_BY(mutex_);

  // Owned by the connection's threads, one at a time:
  std::unique_ptr<ClientPublisher> graph_publisher_;
  LoanBudget::Share share_;  ///< share of the loan budget for the message in progress
};

}  // namespace hyphos::gateway::ros1
