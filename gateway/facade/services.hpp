#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/convert/form.hpp"
#include "gateway/types/client.hpp"
#include "gateway/types/type_info.hpp"
#include "hyphos/buffer.hpp"
#include "hyphos/result.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway {

struct ServiceInfo {
  std::string name;
  std::string type;          ///< the ROS type, empty if ROS has no corresponding type
  std::string node;          ///< the server, the gateway's own node if a client serves it
  std::string carries = {};  ///< type in the graph
};

/// A service that a client serves. Dropping it ends the service: calls without a reply fail.
class Server {
 public:
  virtual ~Server() = default;
  [[nodiscard]] virtual const ServiceTypeInfo& type() const = 0;
};

/// The reply to a call that a client serves, or the end of a call that a client made.
using Answer = std::function<void(Result<Buffer>)>;

/// The services of the graph, in the encodings of ROS. Thread-safe. Errors of opening: see
/// GraphFacade.
class Services {
 public:
  virtual ~Services() = default;

  /// Lets a client serve a service. `callback` gets a request and replies to it, now or later.
  virtual Result<std::unique_ptr<Server>> open_server(
      const Client& client, const std::string& service, const std::string& type, Forms forms,
      std::function<void(const Buffer& request, Answer answer)> callback) = 0;
  /// Calls a service for a client. An empty `type` means the type of the server, which must exist.
  /// The reply comes once, on the thread pool. Errors: as Client::call (hyphos/service.hpp).
  virtual void call(const Client& client, const std::string& service, const std::string& type,
                    Forms forms, std::span<const std::byte> request, Duration timeout,
                    Answer answer) = 0;

  /// The reply of a service with default values: numbers are 0, strings and arrays are empty.
  /// Errors: not_found (no such type).
  [[nodiscard]] virtual Result<Buffer> blank_reply(std::string_view type, Form form) const = 0;
  /// The server of a service, or none. Ignores the rules. The cost does not depend on the number of
  /// nodes and channels.
  [[nodiscard]] virtual std::optional<ServiceInfo> find(const std::string& service) const = 0;
  /// The services that are open now. Reads shared memory only, and ignores the rules.
  [[nodiscard]] virtual std::vector<ServiceInfo> list() const = 0;
};

}  // namespace hyphos::gateway
