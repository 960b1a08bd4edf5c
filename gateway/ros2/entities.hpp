#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The announcements of nodes on "ros_discovery_info": rmw_dds_common/msg/ParticipantEntitiesInfo
/// in XCDR1. Pure functions over bytes.
namespace hyphos::gateway::ros2 {

/// The GUID of a DDS entity: 12 bytes for its participant and 4 for itself.
using Gid = std::array<std::uint8_t, 16>;

/// Up to Humble, a Gid is 24 bytes on the wire, of which 8 are 0.
enum class GidSize : std::uint8_t { iron = 16, humble = 24 };

struct NodeEntities {
  std::string name_space;
  std::string name;
  std::vector<Gid> readers;
  std::vector<Gid> writers;
};

struct ParticipantEntities {
  Gid gid{};
  std::vector<NodeEntities> nodes;
};

[[nodiscard]] std::vector<std::byte> write_entities(const ParticipantEntities& entities,
                                                    GidSize size);
/// Reads either size, `likely` first. nullopt if neither fits.
[[nodiscard]] std::optional<ParticipantEntities> read_entities(std::span<const std::byte> bytes,
                                                               GidSize likely);

}  // namespace hyphos::gateway::ros2
