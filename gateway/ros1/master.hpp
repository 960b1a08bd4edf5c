#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gateway/net/loop.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros1 {

/// The port at which ROS 1's programs look for a master.
inline constexpr std::uint16_t kMasterPort = 11311;

/// A master of ROS 1, with its parameter server: what `rosmaster` is, so that ROS 1's programs run
/// where ROS is not installed. A node that is gone without a word is forgotten when nobody listens
/// at its URI any more, which ROS's own master leaves to `rosnode cleanup`.
///
/// Lives on a loop of one thread, which has to end before it.
class Master {
 public:
  struct Options {
    std::string host = "127.0.0.1";
    std::uint16_t port = kMasterPort;  ///< 0: any that is free
    std::string name = "127.0.0.1";    ///< the host as others know it
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
