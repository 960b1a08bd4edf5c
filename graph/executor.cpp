#include "graph/executor.hpp"

#include <cassert>

namespace hyphos::graph {

thread_local const Executor* Executor::current_ = nullptr;

// oneTBB counts the calling thread as one of the pool; ours never joins, hence the one more.
Executor::Executor(int threads)
    : threads_(threads),
      workers_(tbb::global_control::max_allowed_parallelism,
               static_cast<std::size_t>(threads) + 1) {
  assert(threads >= 1);
  constexpr std::array kPriorities = {tbb::task_arena::priority::low,
                                      tbb::task_arena::priority::normal,
                                      tbb::task_arena::priority::high};
  for (std::size_t i = 0; i < arenas_.size(); ++i) {
    arenas_[i] = std::make_unique<tbb::task_arena>(threads, 0, kPriorities[i]);
    arenas_[i]->initialize();
  }
}

}  // namespace hyphos::graph
