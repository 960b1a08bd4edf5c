#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.hpp"
#include "gateway/ros2/call_header.hpp"
#include "gateway/ros2/context.hpp"
#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/left_out.hpp"

namespace hyphos::gateway::ros2 {

/// A service that another participant offers.
struct Offered {
  std::string type;  ///< "std_srvs/srv/SetBool"
  GUID_t server;     ///< the reader of its requests
};

/// The services for which both topics exist, by name.
[[nodiscard]] std::map<std::string, Offered> offered_services(const DomainState& state);

/// A client of one ROS service. Thread-safe. Replies arrive in threads of DDS. After end() it uses
/// no object of the gateway, so a call that arrives at that moment is harmless.
class ServiceClient {
 public:
  ServiceClient(const Context& context, std::string service, Offered offered);
  ServiceClient(const ServiceClient&) = delete;
  ServiceClient& operator=(const ServiceClient&) = delete;

  Result<void> open();
  /// Fails all calls that wait.
  void end() HYPHOS_EXCLUDES(mutex_);

  [[nodiscard]] const Offered& offered() const { return offered_; }
  [[nodiscard]] bool is_of(const Offered& offered) const;
  void add_endpoints(OwnEndpoints& endpoints) const;
  [[nodiscard]] GUID_t reader() const { return replies_.guid(); }
  [[nodiscard]] GUID_t writer() const { return requests_.guid(); }
  /// True once the server can have discovered both topics of this client.
  [[nodiscard]] bool is_ready() const;

  /// `request` and the reply are CDR. `answer` is called once, in any thread.
  void call(const Buffer& request, Answer answer) HYPHOS_EXCLUDES(mutex_);
  /// Fails calls that took too long.
  void expire() HYPHOS_EXCLUDES(mutex_);

 private:
  struct Waiting {
    Answer answer;
    Time deadline;
  };

  /// Returns the number that the reply will carry.
  Result<std::int64_t> send(const Buffer& request) HYPHOS_REQUIRES(mutex_);
  void on_message(const Received& message);
  [[nodiscard]] bool is_own(const CallHeader& header);
  void finish(std::int64_t call, Buffer reply) HYPHOS_EXCLUDES(mutex_);

  const Context& context_;
  const std::string service_;
  const Offered offered_;
  Mutex mutex_;
  bool ended_ HYPHOS_GUARDED_BY(mutex_) = false;
  CallHeader header_ HYPHOS_GUARDED_BY(mutex_);
  std::map<std::int64_t, Waiting> waiting_
      HYPHOS_GUARDED_BY(mutex_);  ///< by the number of the call
  Writer requests_;
  Reader replies_;  ///< declared last, because it uses all members above
};

}  // namespace hyphos::gateway::ros2
