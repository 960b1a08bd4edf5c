#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hyphos/result.hpp"
#include "shm/os.hpp"

namespace hyphos::shm {

/// The metrics memory of one process, mapped read-only. The reader must check the content, because
/// the process writes to it all the time.
struct MetricsView {
  std::uint64_t participant = 0;
  int pid = 0;
  std::string process;
  bool alive = false;
  Mapping memory;

  [[nodiscard]] std::span<const std::byte> bytes() const { return memory.bytes(); }
};

/// Maps the metrics of every participant of the domain. Allocates, and makes a few system calls per
/// participant.
[[nodiscard]] Result<std::vector<MetricsView>> open_metrics(
    const std::string& domain, const std::filesystem::path& base = "/dev/shm");

}  // namespace hyphos::shm
