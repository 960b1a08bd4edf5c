#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "gateway/facade/graph_facade.hpp"

namespace hyphos::gateway::rosbridge {

/// The arguments of a call, or of a goal, as a JSON object that parsers read. A list is by
/// position: of the fields of `type`, which is asked only then. `name`: of the service or action,
/// for errors. Errors: corrupt, and those of `type`.
[[nodiscard]] Result<std::string> arguments_object(std::string_view args, const std::string& name,
                                                   const std::function<Result<TypeInfo>()>& type);

}  // namespace hyphos::gateway::rosbridge
