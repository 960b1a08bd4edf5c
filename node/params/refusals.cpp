#include <atomic>

#include "hyphos/node.hpp"
#include "hyphos/params.hpp"

namespace hyphos {

class Refusals::Impl {
 public:
  explicit Impl(const Node& node)
      : log_(node.log()),
        shown_(node.params().declare<std::int64_t>("refused",
                                                   {.description = "number of unusable messages"})),
        count_(*shown_) {}

  void count_one(std::string_view channel, std::string_view reason) {
    std::int64_t count = count_.fetch_add(1) + 1;
    log_.every(Duration::from_ms(1000))
        .warn(channel, " refused: ", reason, " (", count, " refused so far)");
    // Of two concurrent threads, the last to set the parameter has read the other's count.
    do {
      count = count_.load();
      (void)shown_.set(count);
    } while (count != count_.load());
  }
  [[nodiscard]] std::int64_t count() const { return count_.load(); }

 private:
  const Logger log_;
  const Param<std::int64_t> shown_;
  std::atomic<std::int64_t> count_;  // continues over a restart of the process
};

Refusals::Refusals(const Node& node) : impl_(std::make_shared<Impl>(node)) {}

bool Refusals::count_one(std::string_view channel, std::string_view reason) const {
  impl_->count_one(channel, reason);
  return true;
}

std::int64_t Refusals::count() const { return impl_->count(); }

}  // namespace hyphos
