#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "hyphos/result.hpp"

/// What a forked child does with what it inherits: nothing. It has the memory of its parent, but
/// none of the threads, and locks that nobody opens; the shared memory is the parent's.
namespace hyphos {

/// Made with an object, it tells whether this process has made the object or has inherited it.
class ForkMark {
 public:
  ForkMark();
  /// Costs a load and a comparison.
  [[nodiscard]] bool is_inherited() const {
    return generation_ != current_.load(std::memory_order_relaxed);
  }
  /// Code::disconnected: `what` (and `where`) is another process's.
  [[nodiscard]] static Error error(const std::string& what, const std::string& where = {});

 private:
  static std::atomic<std::uint32_t> current_;  // +1 in each child
  std::uint32_t generation_;
};

/// A shared object whose end needs threads or shared memory of the process that makes it: in a
/// forked child it does not end.
template <typename T, typename... Arguments>
std::shared_ptr<T> make_for_this_process(Arguments&&... arguments) {
  return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...),
                            [mark = ForkMark()](T* object) {
                              if (!mark.is_inherited()) delete object;
                            });
}

}  // namespace hyphos
