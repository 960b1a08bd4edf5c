#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hyphos/param_types.hpp"

/// The messages of the parameter services of a ROS 2 node: rcl_interfaces/srv in XCDR1. Pure
/// functions over bytes. Their input comes from other programs and may be malformed.
namespace hyphos::gateway::ros2 {

/// A value to set. No value means "not set" in rcl_interfaces, which deletes a parameter.
struct ParamWish {
  std::string name;
  std::optional<ParamVariant> value;
};
struct ParamOutcome {
  bool successful = false;
  std::string reason;
};
struct ParamListing {
  std::vector<std::string> prefixes;  ///< none: all
  std::uint64_t depth = 0;            ///< 0: unlimited
};

/// rcl_interfaces/msg/ParameterType.
[[nodiscard]] std::uint8_t param_type(const ParamVariant& value);

// Requests. nullopt if the bytes are not such a request.
[[nodiscard]] std::optional<ParamListing> read_listing(std::span<const std::byte> request);
[[nodiscard]] std::optional<std::vector<std::string>> read_names(
    std::span<const std::byte> request);
[[nodiscard]] std::optional<std::vector<ParamWish>> read_wishes(std::span<const std::byte> request);

// Responses.
[[nodiscard]] std::vector<std::byte> write_listing(const std::vector<std::string>& names,
                                                   const ParamListing& asked);
[[nodiscard]] std::vector<std::byte> write_values(
    const std::vector<std::optional<ParamVariant>>& values);
[[nodiscard]] std::vector<std::byte> write_types(const std::vector<std::uint8_t>& types);
/// In the order of `names`. An unknown name has no type.
[[nodiscard]] std::vector<std::byte> write_descriptions(const std::vector<std::string>& names,
                                                        const std::vector<const ParamInfo*>& infos);
[[nodiscard]] std::vector<std::byte> write_outcomes(const std::vector<ParamOutcome>& outcomes);
[[nodiscard]] std::vector<std::byte> write_outcome(const ParamOutcome& outcome);

}  // namespace hyphos::gateway::ros2
