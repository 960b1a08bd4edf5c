#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "hyphos/node.hpp"

namespace hyphos {

/// Counts the messages that a node refuses because their content cannot be used.
///
///     if (refusals_.refuse("scan", unusable(*scan))) return;
///
/// The count is the parameter `refused` of the node: `hyphos param get NODE refused` reads it from
/// any process. The log of the node has the channel, the reason and the count, one line a second at
/// most. Cheap to copy; copies share the count. Thread-safe. A refusal costs a log line and a
/// parameter that is set; a message that passes costs one comparison.
class Refusals {
 public:
  /// Start-up code: declares the parameter, and throws already_exists if the node has one.
  explicit Refusals(const Node& node) : shared_(std::make_shared<Shared>(node)) {}

  /// True, and counted, if there is a reason. `reason`: "" if the message can be used.
  [[nodiscard]] bool refuse(std::string_view channel, std::string_view reason) const {
    if (reason.empty()) return false;
    std::int64_t count = shared_->count.fetch_add(1) + 1;
    shared_->log.every(Duration::from_ms(1000))
        .warn(channel, " refused: ", reason, "; ", count, " refused so far");
    // Of two threads the one that sets last has seen the other's count.
    do {
      count = shared_->count.load();
      (void)shared_->shown.set(count);
    } while (count != shared_->count.load());
    return true;
  }
  /// How many were refused.
  [[nodiscard]] std::int64_t count() const { return shared_->count.load(); }

 private:
  struct Shared {
    explicit Shared(const Node& node)
        : log(node.log()),
          shown(node.params().declare<std::int64_t>(
              "refused", {.description = "messages that could not be used, counted"})),
          count(*shown) {}
    const Logger log;
    const Param<std::int64_t> shown;
    std::atomic<std::int64_t> count;  // goes on where it was before a restart of the process
  };
  std::shared_ptr<Shared> shared_;
};

}  // namespace hyphos
