#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hyphos/export.hpp"
#include "hyphos/inspect.hpp"

namespace hyphos {

/// Follows the endpoints of all processes of a domain on this machine. inspect() reads all of them
/// at each call. A watch reads them once, and later only those that have changed.
///
/// Threads: one at a time. Lifetime: it maps the metrics of each process, also for a short time
/// after the end of that process. Cost of look() without a change: one system call however many
/// processes run, and 12 bytes of shared memory for each process. It allocates only if something
/// has changed. The end of a killed process is reported when its files are removed, within half a
/// second. Every other change is reported by the next look().
class HYPHOS_EXPORT DomainWatch {
 public:
  struct Process {
    std::uint64_t participant = 0;  ///< as ProcessInfo::participant
    std::int32_t pid = 0;
    std::string name;
  };
  struct Changes {
    std::vector<std::uint64_t> ended;  ///< participants. All of their endpoints are closed
    std::vector<Process> started;
    /// The participant, and EndpointInfo::id.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> closed;
    /// The participant, and the endpoint without counters, times and transports.
    std::vector<std::pair<std::uint64_t, EndpointInfo>> opened;

    [[nodiscard]] bool empty() const {
      return ended.empty() && started.empty() && closed.empty() && opened.empty();
    }
  };
  /// The work of all looks.
  struct Cost {
    std::uint64_t system_calls = 0;
    std::uint64_t bytes = 0;  ///< read from the memory of other processes
  };

  explicit DomainWatch(std::string domain);
  ~DomainWatch();
  DomainWatch(const DomainWatch&) = delete;
  DomainWatch& operator=(const DomainWatch&) = delete;

  /// The changes since the last look, in the order of the members of Changes. The first look
  /// reports everything.
  [[nodiscard]] Changes look();
  [[nodiscard]] const Cost& cost() const;

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hyphos
