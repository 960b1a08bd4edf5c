#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/mutex.hpp"
#include "gateway/ros2/call_header.hpp"
#include "gateway/ros2/context.hpp"
#include "gateway/ros2/endpoint.hpp"
#include "gateway/ros2/left_out.hpp"

namespace hyphos::gateway::ros2 {

struct DomainState;

/// A service that another participant offers.
struct Offered {
  std::string type;  ///< "std_srvs/srv/SetBool"
  GUID_t server;     ///< the reader of its requests
};

/// The services for which both topics exist, by name.
[[nodiscard]] std::map<std::string, Offered> offered_services(const DomainState& state);

/// A client of one ROS service. Thread-safe, except for open(), end() and expire(), which belong to
/// one thread. Replies arrive in threads of DDS.
class ServiceClient {
 public:
  /// `context` must outlive it.
  ServiceClient(const Context& context, std::string service, Offered offered);
  ServiceClient(const ServiceClient&) = delete;
  ServiceClient& operator=(const ServiceClient&) = delete;

  /// Errors: io, type_mismatch.
  Result<void> open();
  /// Ends all calls with an error. Later calls fail.
  void end() HYPHOS_EXCLUDES(mutex_);
  /// Sends a request. `answer` gets the reply, or an error: corrupt, disconnected, overloaded, io,
  /// timeout (noticed by expire()).
  void call(std::span<const std::byte> request, Duration timeout, Answer answer)
      HYPHOS_EXCLUDES(mutex_);
  /// Ends calls that took too long.
  void expire() HYPHOS_EXCLUDES(mutex_);

  /// True once the server has discovered both endpoints of this client.
  [[nodiscard]] bool is_ready() const;
  [[nodiscard]] bool is_of(const Offered& offered) const;
  [[nodiscard]] const Offered& offered() const { return offered_; }
  [[nodiscard]] GUID_t reader() const { return replies_.guid(); }
  [[nodiscard]] GUID_t writer() const { return requests_.guid(); }
  void add_endpoints(OwnEndpoints& endpoints) const;

 private:
  struct Waiting {
    Answer answer;
    Time deadline;
  };

  /// Returns the number that the reply will carry.
  Result<std::int64_t> send(std::span<const std::byte> request) HYPHOS_REQUIRES(mutex_);
  void on_message(const Received& message);
  [[nodiscard]] bool is_own(const CallHeader& header) HYPHOS_EXCLUDES(mutex_);
  void finish(std::int64_t call, Buffer reply) HYPHOS_EXCLUDES(mutex_);

  const Context& context_;
  const std::string service_;
  const Offered offered_;
  Time opened_;  ///< of the thread of open()
  Mutex mutex_;
  bool ended_ HYPHOS_GUARDED_BY(mutex_) = false;
  CallHeader header_ HYPHOS_GUARDED_BY(mutex_);
  /// by the number of the call
  std::map<std::int64_t, Waiting> waiting_ HYPHOS_GUARDED_BY(mutex_);
  Writer requests_;
  Reader replies_;  ///< declared last, because it uses all members above
};

}  // namespace hyphos::gateway::ros2
