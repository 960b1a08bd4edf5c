#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hyphos/param_types.hpp"
#include "hyphos/params/params.pb.h"

/// Converts parameters to and from their messages: pure functions. Input from outside is checked,
/// so the result respects the limits of param_types.hpp.
namespace hyphos::params {

/// The publisher of a set.
struct Owner {
  std::string node;
  std::string process;
  std::uint64_t instance = 0;
};

void encode(const ParamVariant& value, v1::Value& out);
[[nodiscard]] v1::NodeParams encode(const Owner& owner, const ParamSet& set,
                                    const std::vector<std::string>& undeclared);
/// Errors: corrupt, with the problem.
[[nodiscard]] Result<ParamVariant> decode(const v1::Value& value);
[[nodiscard]] Result<ParamSet> decode(const v1::NodeParams& message);
[[nodiscard]] Result<std::vector<ParamAssignment>> decode(const v1::SetParams& message);

/// "mapper/_params" and "mapper/_set_params". A '-' or '.' in a node's name becomes '_', because
/// channel names contain neither.
[[nodiscard]] std::string channel_of(const std::string& node);
[[nodiscard]] std::string service_of(const std::string& node);

}  // namespace hyphos::params
