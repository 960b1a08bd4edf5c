#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/faulty.hpp"
#include "transport/shm.hpp"
#include "transport/transport.hpp"
#include "transport/zmq.hpp"

namespace hyphos::transport {

/// What a transport may need to know to be made. Each takes what concerns it.
struct TransportContext {
  std::string process_name;
  std::string domain = "0";
  ShmConfig shm;  ///< process_name and domain are filled in from above
  ZmqConfig zmq;  ///< process_name is filled in from above
  /// If set, the transport is wrapped into `faulty`.
  std::optional<FaultConfig> faults;
};

/// Makes a transport by the name it has in plans; not started. Code::not_found names those there
/// are.
[[nodiscard]] Result<std::unique_ptr<Transport>> make_transport(std::string_view name,
                                                                const TransportContext& context);

/// The names that make_transport() knows.
[[nodiscard]] std::vector<std::string_view> transport_names();

}  // namespace hyphos::transport
