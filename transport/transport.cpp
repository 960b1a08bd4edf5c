#include "transport/transport.hpp"

namespace hyphos::transport {

std::string_view to_string(Drop reason) {
  switch (reason) {
    case Drop::overflow:
      return "overflow";
    case Drop::timeout:
      return "timeout";
    case Drop::no_memory:
      return "no_memory";
    case Drop::disconnected:
      return "disconnected";
    case Drop::gap:
      return "gap";
    case Drop::corrupt:
      return "corrupt";
    case Drop::type:
      return "type";
    case Drop::injected:
      return "injected";
    case Drop::too_many:
      return "too_many";
    case Drop::too_large:
      return "too_large";
  }
  return "unknown";
}

}  // namespace hyphos::transport
