#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gateway/facade/graph_facade.hpp"
#include "gateway/net/stream.hpp"
#include "gateway/ros1/header.hpp"
#include "gateway/ros1/names.hpp"
#include "gateway/ros1/tcpros_server.hpp"

namespace hyphos::gateway::ros1 {

/// Asks a service server what it serves, with a connection that says so and no more. `done` gets
/// the header of its answer, in a thread of the place's loop. Errors: as connect_later(), and io.
void probe_service(const Context& context, const std::string& service, const Uri& uri,
                   std::function<void(Result<Header>)> done);

/// Calls one service of ROS for the graph. Connections are kept from one call to the next when the
/// server frames its answers as TCPROS says; ROS.NET's leaves out the length, so that only the end
/// of the connection tells where its answer ends.
///
/// Thread-safe.
class ServiceProxy final : public std::enable_shared_from_this<ServiceProxy> {
 public:
  /// Calls at once: beyond, overloaded.
  static constexpr std::size_t kMaxCalls = 32;

  /// `gone` is told, in any thread, that nobody listens at `uri` any more.
  ServiceProxy(const Context& context, std::string service, ServiceTypeInfo type, std::string node,
               Uri uri, std::function<void()> gone);

  void call(const Buffer& request, Answer answer);
  /// Calls end with an error. Afterwards the loop is not used any more.
  void stop();

 private:
  class Line;

  void connected(const std::shared_ptr<Line>& line, Result<net::Connection> connection);
  void ended(const std::shared_ptr<Line>& line);
  void idle(const std::shared_ptr<Line>& line);
  [[nodiscard]] std::shared_ptr<Line> take_idle(const Buffer& request, Answer& answer);
  void is_framed();
  [[nodiscard]] Header greeting(bool persistent) const;

  const Context& context_;
  const std::string service_;
  const ServiceTypeInfo type_;
  const Client node_;
  const Uri uri_;
  const std::function<void()> gone_;

  std::mutex mutex_;
  bool stopped_ = false;
  bool framed_ = false;  ///< an answer had its length
  std::set<std::shared_ptr<Line>> lines_;
  std::vector<std::shared_ptr<Line>> idle_;
};

}  // namespace hyphos::gateway::ros1
