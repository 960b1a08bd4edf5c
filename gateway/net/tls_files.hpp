#pragma once

#include <string>

namespace hyphos::gateway {

/// The identity of a server that accepts TLS.
struct Tls {
  std::string certificate;  ///< PEM files
  std::string key;
};

}  // namespace hyphos::gateway
