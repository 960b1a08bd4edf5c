#include "node/runtime/environment.hpp"

#include <algorithm>
#include <cstdlib>

#include "plan/names.hpp"

namespace hyphos {

Result<std::string> domain_of_environment(const RuntimeOptions& options) {
  const auto names_domain = [](const std::string& one) { return one.starts_with("domain="); };
  if (!options.domain.empty() || std::ranges::any_of(options.overrides, names_domain)) {
    return std::string();
  }
  const char* const value = std::getenv("HYPHOS_DOMAIN");
  if (value == nullptr || *value == '\0') return std::string();
  if (const std::string why = plan::domain_problem(value); !why.empty()) {
    return Error{Code::invalid_config, "HYPHOS_DOMAIN is '" + std::string(value) + "': " + why,
                 "environment"};
  }
  return std::string(value);
}

Result<Plan> plan_by_hand(const std::string& process, const PlanOptions& options) {
  // A name that does not fit between the quotes is refused as the name of a process.
  return parse_plan("hyphos: 1\nprocesses: {\"" + process + "\": {}}\n", "--hyphos-set", options);
}

std::string transform_remedy(const Plan& plan, const Transforms::Impl::Channels& channels) {
  if (plan.hosts.size() < 2) return {};
  std::string missing;
  for (const std::string& name : {channels.moving, channels.fixed}) {
    if (plan.channel(name) != nullptr) continue;
    missing += (missing.empty() ? "'" : " and '") + name + "'";
  }
  if (missing.empty()) return {};
  return ". Transforms of other machines do not arrive: name " + missing +
         " under channels: of the plan";
}

}  // namespace hyphos
