#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "hyphos/result.hpp"

/// A forked child must not use inherited objects. The child has the memory of its parent but none
/// of its threads, so an inherited lock may stay locked. The shared memory belongs to the parent.
namespace hyphos {

/// A member of an object: distinguishes the process that made the object from a forked child.
class ForkMark {
 public:
  ForkMark();
  /// Costs a load and a comparison.
  [[nodiscard]] bool is_inherited() const {
    return generation_ != current_.load(std::memory_order_relaxed);
  }
  /// The error for using `what` (at `where`) in a forked child. Code::disconnected.
  [[nodiscard]] static Error error(const std::string& what, const std::string& where = {});

 private:
  static std::atomic<std::uint32_t> current_;  // +1 in each child
  std::uint32_t generation_;
};

/// Makes a shared object whose destructor needs threads or shared memory of its own process. In a
/// forked child the destructor does not run.
template <typename T, typename... Arguments>
std::shared_ptr<T> make_for_this_process(Arguments&&... arguments) {
  return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...),
                            [mark = ForkMark()](T* object) {
                              if (!mark.is_inherited()) delete object;
                            });
}

}  // namespace hyphos
