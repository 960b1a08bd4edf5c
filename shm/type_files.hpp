#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "shm/participant.hpp"

namespace hyphos::shm {

/// The limits of the definitions that one process publishes, for its writer and for its readers.
inline constexpr std::uint64_t kMaxTypeBytes = std::uint64_t{4} << 20;
inline constexpr std::uint32_t kMaxTypeFiles = 1024;

/// Publishes definitions of message types for tools. Each add() makes one file,
/// `<id>.<n>.types`, which is complete when it appears (Domain, D2) and never changes. The files
/// end with the participant. Calls must not overlap.
class TypeFiles {
 public:
  explicit TypeFiles(std::shared_ptr<const Participant> self) : self_(std::move(self)) {}

  /// Error: exhausted (a limit, or no memory). The definitions are then not published.
  [[nodiscard]] Result<void> add(std::string_view definitions);

 private:
  const std::shared_ptr<const Participant> self_;
  std::uint32_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

/// The definitions of one live process, in the order in which it published them.
struct PublishedTypes {
  std::uint64_t participant = 0;
  int pid = 0;
  std::string process;
  std::string definitions;  ///< at most kMaxTypeBytes. Not checked
};

/// Reads the definitions of every live participant that published some.
[[nodiscard]] Result<std::vector<PublishedTypes>> read_types(
    const std::string& domain, const std::filesystem::path& base = "/dev/shm");

}  // namespace hyphos::shm
