#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hyphos/export.hpp"
#include "hyphos/result.hpp"

/// The functions behind `hyphos shm list` and `hyphos shm clean`. list() only reads. Neither
/// disturbs live participants.
namespace hyphos::shm {

struct ParticipantInfo {
  std::string domain;
  std::string id;  ///< sixteen hexadecimal digits
  int pid = 0;
  bool alive = false;
  std::string process;
  std::string host;
  /// Layout version. If it is not ours, only this field and `alive` are valid.
  std::uint32_t version = 0;
  std::uint32_t ends = 0;    ///< endpoints of channels, at most kMaxEndpoints
  std::uint32_t queues = 0;  ///< rings to this participant, at most kMaxRings
};

struct SegmentInfo {
  std::string file;
  std::string participant;
  std::uint64_t bytes = 0;
  std::uint32_t slots = 0;
  std::uint64_t slot_size = 0;
  std::uint32_t used = 0;     ///< slots that some receiver holds
  std::uint32_t holders = 0;  ///< entries of the holder table in use, at most kMaxHolders
};

struct RingInfo {
  std::string channel;
  std::string sender;
  std::string receiver;
  std::uint32_t depth = 0;
  std::uint64_t waiting = 0;
  std::uint64_t drops = 0;
};

struct Listing {
  std::vector<ParticipantInfo> participants;
  std::vector<SegmentInfo> segments;
  std::vector<RingInfo> rings;
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};

/// Lists one domain, or all domains of this user if `domain` is empty.
[[nodiscard]] HYPHOS_EXPORT Result<Listing> list(const std::string& domain = "",
                                                 const std::filesystem::path& base = "/dev/shm");

/// Removes the files of dead participants and the folders of empty domains. Returns their paths.
/// Never removes files of live participants.
[[nodiscard]] HYPHOS_EXPORT Result<std::vector<std::string>> clean(
    const std::string& domain = "", const std::filesystem::path& base = "/dev/shm");

}  // namespace hyphos::shm
