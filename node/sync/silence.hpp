#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/sync/matcher.hpp"

namespace hyphos::sync {

/// "'camera', 'scan'"
[[nodiscard]] std::string joined(const std::vector<std::string>& channels);

/// Notices a synchronizer that receives messages and forms no sets. Not thread-safe.
class Silence {
 public:
  Silence(std::vector<std::string> channels, const SyncOptions& options);

  /// Called after each message. Returns a warning, once for each time without sets, as soon as a
  /// whole queue of messages was lost.
  [[nodiscard]] std::string look(const Matcher& matcher, const Matcher::Outcome& out);

 private:
  [[nodiscard]] std::string text(const Matcher& matcher) const;

  const std::vector<std::string> channels_;
  const std::uint64_t patience_;
  std::uint64_t lost_ = 0;  // messages since the last set
  bool warned_ = false;
};

}  // namespace hyphos::sync
