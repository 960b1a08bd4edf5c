#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hyphos/export.hpp"
#include "hyphos/result.hpp"

/// What `hyphos shm list` and `hyphos shm clean` need. Reads only (list), never disturbs the
/// living.
namespace hyphos::shm {

struct ParticipantInfo {
  std::string domain;
  std::string id;  ///< sixteen hexadecimal digits
  int pid = 0;
  bool alive = false;
  std::string process;
  std::string host;
  std::uint32_t version =
      0;                     ///< layout version; if it is not ours, only this and `alive` are known
  std::uint32_t ends = 0;    ///< of channels, of at most kMaxEndpoints
  std::uint32_t queues = 0;  ///< towards it, of at most kMaxRings
};

struct SegmentInfo {
  std::string file;
  std::string participant;
  std::uint64_t bytes = 0;
  std::uint32_t slots = 0;
  std::uint64_t slot_size = 0;
  std::uint32_t used = 0;     ///< slots that some receiver holds
  std::uint32_t holders = 0;  ///< entries of the holder table in use, of kMaxHolders
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

/// One domain, or all of this user's if `domain` is empty.
[[nodiscard]] HYPHOS_EXPORT Result<Listing> list(const std::string& domain = "",
                                                 const std::filesystem::path& base = "/dev/shm");

/// Removes the files of dead participants, and folders of domains in which nothing is left; returns
/// their paths. Never touches the living.
[[nodiscard]] HYPHOS_EXPORT Result<std::vector<std::string>> clean(
    const std::string& domain = "", const std::filesystem::path& base = "/dev/shm");

}  // namespace hyphos::shm
