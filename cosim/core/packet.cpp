#include "cosim/core/packet.hpp"

namespace hyphos::cosim {

std::string_view to_string(DropReason reason) {
  switch (reason) {
    case DropReason::none:
      return "none";
    case DropReason::queue_full:
      return "queue_full";
    case DropReason::out_of_range:
      return "out_of_range";
    case DropReason::channel_error:
      return "channel_error";
    case DropReason::collision:
      return "collision";
    case DropReason::retry_limit:
      return "retry_limit";
    case DropReason::other:
      return "other";
    case DropReason::node_off:
      return "node_off";
  }
  return "unknown";
}

}  // namespace hyphos::cosim
