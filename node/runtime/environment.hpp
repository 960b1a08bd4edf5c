#pragma once

#include <string>

#include "hyphos/plan.hpp"
#include "hyphos/runtime.hpp"
#include "node/transforms/transforms_impl.hpp"

namespace hyphos {

/// The domain of HYPHOS_DOMAIN, or "" if it is unset or the program names a domain itself.
[[nodiscard]] Result<std::string> domain_of_environment(const RuntimeOptions& options);

/// The plan of a process that was started by hand with overrides only.
[[nodiscard]] Result<Plan> plan_by_hand(const std::string& process, const PlanOptions& options);

/// The reason why transforms of other machines do not arrive, or "" if they do.
[[nodiscard]] std::string transform_remedy(const Plan& plan,
                                           const Transforms::Impl::Channels& channels);

}  // namespace hyphos
