#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gateway/net/loop.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// The default port of a ROS 1 master.
inline constexpr std::uint16_t kMasterPort = 11311;

/// A ROS 1 master with its parameter server. It replaces `rosmaster`, so that ROS 1 programs run
/// where ROS is not installed. A node that ended without unregistering is forgotten when no program
/// listens at its URI. The master of ROS leaves that to `rosnode cleanup`.
///
/// It runs on a loop of one thread. That loop must end before the master is destroyed.
class Master {
 public:
  struct Options {
    std::string host = "127.0.0.1";
    std::uint16_t port = kMasterPort;  ///< 0: any free port
    std::string name = "127.0.0.1";    ///< the host name under which others reach it
  };
  /// Errors: as net::Listener::open().
  static Result<std::unique_ptr<Master>> open(net::Loop& loop, const Options& options);
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;
  ~Master();

  [[nodiscard]] std::uint16_t port() const;
  /// "http://127.0.0.1:11311/"
  [[nodiscard]] const std::string& uri() const;

 private:
  class Api;
  explicit Master(std::unique_ptr<Api> api);
  std::unique_ptr<Api> api_;
};

}  // namespace hyphos::gateway::ros1
