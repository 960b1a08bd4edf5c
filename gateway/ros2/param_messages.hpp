#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hyphos/param_types.hpp"
#include "hyphos/time.hpp"

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

/// The changes of one node's parameters, as rcl_interfaces/msg/ParameterEvent.
struct ParamEvent {
  std::string node;  ///< "/laser"
  std::vector<std::pair<std::string, ParamVariant>> appeared;
  std::vector<std::pair<std::string, ParamVariant>> changed;
  std::vector<std::string> deleted;

  [[nodiscard]] bool empty() const {
    return appeared.empty() && changed.empty() && deleted.empty();
  }
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

// Requests to a ROS node, and its responses. nullopt if the bytes are not such a response.
[[nodiscard]] std::vector<std::byte> write_list_request();
[[nodiscard]] std::vector<std::byte> write_names(const std::vector<std::string>& names);
[[nodiscard]] std::vector<std::byte> write_wishes(const std::vector<ParamWish>& wishes);
[[nodiscard]] std::optional<std::vector<std::string>> read_listed(std::span<const std::byte> reply);
/// In the order of the request. A parameter that is not set has no value.
[[nodiscard]] std::optional<std::vector<std::optional<ParamVariant>>> read_values(
    std::span<const std::byte> reply);
/// Descriptions by name.
[[nodiscard]] std::optional<std::map<std::string, std::string>> read_descriptions(
    std::span<const std::byte> reply);
[[nodiscard]] std::optional<std::vector<ParamOutcome>> read_outcomes(
    std::span<const std::byte> reply);

// Events. `stamp` is Unix time.
[[nodiscard]] std::vector<std::byte> write_event(const ParamEvent& event, Time stamp);
/// nullopt if the bytes are not such an event. Parameters without a value are left out.
[[nodiscard]] std::optional<ParamEvent> read_event(std::span<const std::byte> message);

}  // namespace hyphos::gateway::ros2
