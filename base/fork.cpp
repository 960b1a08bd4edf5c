#include "base/fork.hpp"

#include <pthread.h>

#include <mutex>

namespace hyphos {

std::atomic<std::uint32_t> ForkMark::current_{0};

ForkMark::ForkMark() {
  static std::once_flag watched;
  std::call_once(watched, [] {
    ::pthread_atfork(nullptr, nullptr, [] { current_.fetch_add(1, std::memory_order_relaxed); });
  });
  generation_ = current_.load(std::memory_order_relaxed);
}

Error ForkMark::error(const std::string& what, const std::string& where) {
  return {Code::disconnected,
          what +
              " belongs to the parent of this process and cannot be used after fork(). Open a node "
              "in the child, or start it with spawn or exec",
          where};
}

}  // namespace hyphos
