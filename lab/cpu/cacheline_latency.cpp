// Measures the time that a cache line takes from one processor to another. A message between two
// threads costs this time in addition to its instructions. The processors of a virtual machine may
// share one chip of the host, or be moved apart while it runs. In the second case every transfer
// takes several times as long, and no other value shows it.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kRoundTrips = 500;
constexpr int kBursts = 20;
constexpr std::size_t kMostPairs = 16;
// The limit for a pair. If other programs run, a burst takes one of their time slices.
constexpr auto kPatience = std::chrono::milliseconds(50);

std::vector<int> processors_allowed() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> found;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return found;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &allowed)) found.push_back(processor);
  }
  return found;
}

bool stay_on(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  return ::sched_setaffinity(0, sizeof only, &only) == 0;
}

struct alignas(64) Line {
  std::atomic<unsigned> turn{0};

  /// Waits for the odd values of `turn` and makes them even, or the reverse.
  void answer(unsigned first, unsigned last) {
    for (unsigned at = first; at <= last; at += 2) {
      while (turn.load(std::memory_order_acquire) != at) {
      }
      turn.store(at + 1, std::memory_order_release);
    }
  }
};

/// The fastest burst, in ns for one direction. Interrupted bursts give no information about the
/// processors.
std::optional<double> between(int here, int there) {
  if (!stay_on(here)) return std::nullopt;
  Line line;
  std::atomic<unsigned> bursts{kBursts};
  std::atomic<bool> refused{false};
  std::thread other([&] {
    if (!stay_on(there)) refused = true;
    for (unsigned done = 0; done < bursts; ++done) {
      const unsigned begin = done * 2 * kRoundTrips;
      line.answer(begin + 1, begin + 2 * kRoundTrips - 1);
    }
  });
  double best = 0.0;
  const auto give_up = Clock::now() + kPatience;
  for (unsigned done = 0; done < bursts; ++done) {
    // The other thread must read the new value before its last turn.
    if (Clock::now() > give_up) bursts = done + 1;
    const unsigned begin = done * 2 * kRoundTrips;
    const auto began = Clock::now();
    line.answer(begin, begin + 2 * kRoundTrips - 2);
    while (line.turn.load(std::memory_order_acquire) != begin + 2 * kRoundTrips) {
    }
    const std::chrono::duration<double, std::nano> took = Clock::now() - began;
    const double one_way = took.count() / (2 * kRoundTrips);
    best = best == 0.0 ? one_way : std::min(best, one_way);
  }
  other.join();
  if (refused) return std::nullopt;
  return best;
}

}  // namespace

/// Prints the median over pairs of neighbours, or 0 with one processor.
int main() {
  const std::vector<int> processors = processors_allowed();
  const std::size_t pairs = std::min(kMostPairs, std::max(processors.size(), std::size_t{1}) - 1);
  std::vector<double> found;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t at = i * (processors.size() - 1) / pairs;
    const auto one = between(processors[at], processors[at + 1]);
    if (one) found.push_back(*one);
  }
  if (found.empty()) {
    std::puts("0");
    return 0;
  }
  std::ranges::sort(found);
  std::printf("%.1f\n", found[found.size() / 2]);
  return 0;
}
