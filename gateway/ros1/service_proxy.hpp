#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "gateway/facade/services.hpp"
#include "gateway/net/stream.hpp"
#include "gateway/ros1/header.hpp"
#include "gateway/ros1/names.hpp"
#include "gateway/ros1/tcpros_server.hpp"

namespace hyphos::gateway::ros1 {

/// Asks a service server for its type, with a connection that is opened only for that. `done` gets
/// the header of the reply, in a thread of the place's loop. Errors: as connect_later(), and io.
void probe_service(const Context& context, const std::string& service, const Uri& uri,
                   std::function<void(Result<Header>)> done);

/// Calls one ROS service on behalf of the graph. A connection is reused for the next call if the
/// server frames its replies as TCPROS requires. ROS.NET omits the length, so that only the end of
/// the connection marks the end of the reply.
///
/// Thread-safe. Beyond Limits::client_calls calls in flight, further calls fail with overloaded.
class ServiceProxy final : public std::enable_shared_from_this<ServiceProxy> {
 public:
  /// `gone` is called in any thread when no program listens at `uri` any more.
  ServiceProxy(const Context& context, std::string service, ServiceTypeInfo type, std::string node,
               Uri uri, std::function<void()> gone);

  void call(const Buffer& request, Answer answer) HYPHOS_EXCLUDES(mutex_);
  /// All calls end with an error. Afterwards the loop is not used any more.
  void stop() HYPHOS_EXCLUDES(mutex_);

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

  Mutex mutex_;
  bool stopped_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool framed_ HYPHOS_GUARDED_BY(mutex_) = false;  ///< a reply had its length
  std::set<std::shared_ptr<Line>> lines_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Line>> idle_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::gateway::ros1
