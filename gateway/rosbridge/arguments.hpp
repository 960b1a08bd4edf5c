#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "gateway/types/type_info.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::rosbridge {

/// The arguments of a call or a goal as a JSON object that parsers accept. A list has the fields of
/// `type` in order. `type` is called only for a list. `name` is the service or action, for errors.
/// Errors: corrupt, and the errors of `type`.
[[nodiscard]] Result<std::string> arguments_object(std::string_view args, const std::string& name,
                                                   const std::function<Result<TypeInfo>()>& type);

}  // namespace hyphos::gateway::rosbridge
