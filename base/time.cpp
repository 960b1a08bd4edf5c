#include "hyphos/time.hpp"

#include <ctime>

#include "base/hot.hpp"

namespace hyphos {
namespace {

Time read_clock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return {static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec};
}

}  // namespace

HYPHOS_HOT Time monotonic_now() { return read_clock(CLOCK_MONOTONIC); }
Time wall_now() { return read_clock(CLOCK_REALTIME); }

}  // namespace hyphos
