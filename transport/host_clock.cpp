#include "transport/host_clock.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>

#include "hyphos/time.hpp"

namespace hyphos::transport {
namespace {

std::uint64_t read_host() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  if (id.empty()) {  // no /proc: use the host name instead
    char name[256] = {};
    gethostname(name, sizeof name - 1);
    id = name;
  }
  // In a time namespace the monotonic clock differs, so the namespace counts as another machine.
  std::ifstream offsets("/proc/self/timens_offsets");
  for (std::string name, seconds, rest; offsets >> name >> seconds >> rest;) {
    if (name == "monotonic" && (seconds != "0" || rest != "0")) id += ':' + seconds + '.' + rest;
  }
  return wire::fnv1a(id);
}

}  // namespace

std::uint64_t local_host() {
  static const std::uint64_t host = read_host();
  return host;
}

wire::ClockInfo local_clock() {
  static std::atomic<std::int64_t> offset{0};
  static std::atomic<std::int64_t> valid_until{0};
  const std::int64_t now = monotonic_now().ns;
  if (now >= valid_until.load(std::memory_order_relaxed)) {
    offset.store(wall_now().ns - now, std::memory_order_relaxed);
    valid_until.store(now + 1'000'000'000, std::memory_order_relaxed);
  }
  return {local_host(), offset.load(std::memory_order_relaxed)};
}

std::uint64_t random_id() {
  std::uint64_t id = 0;
  while (id == 0) {
    if (getrandom(&id, sizeof id, 0) != sizeof id) {
      id = wire::fnv1a(std::to_string(monotonic_now().ns) + ':' + std::to_string(getpid()));
    }
  }
  return id;
}

}  // namespace hyphos::transport
