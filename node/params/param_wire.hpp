#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hyphos/param_types.hpp"
#include "hyphos/params/params.pb.h"

/// Parameters to and from their messages: pure functions. What comes from outside is checked; the
/// result keeps to the limits of param_types.hpp.
namespace hyphos::params {

/// Who publishes a set.
struct Owner {
  std::string node;
  std::string process;
  std::uint64_t instance = 0;
};

void encode(const ParamVariant& value, v1::Value& out);
[[nodiscard]] v1::NodeParams encode(const Owner& owner, const ParamSet& set,
                                    const std::vector<std::string>& undeclared);
/// Errors: corrupt, saying what is wrong.
[[nodiscard]] Result<ParamVariant> decode(const v1::Value& value);
[[nodiscard]] Result<ParamSet> decode(const v1::NodeParams& message);
[[nodiscard]] Result<std::vector<ParamAssignment>> decode(const v1::SetParams& message);

/// "mapper/_params" and "mapper/_set_params". A '-' in a node's name, which channels do not have,
/// becomes '_'.
[[nodiscard]] std::string channel_of(const std::string& node);
[[nodiscard]] std::string service_of(const std::string& node);

}  // namespace hyphos::params
