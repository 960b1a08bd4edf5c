#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/config.hpp"
#include "base/utf8.hpp"
#include "hyphos/plan.hpp"

/// Any text is either refused with a reason, or becomes a plan that can be printed and connected. A
/// line that begins with "--set " at the end of the input is an override.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  hyphos::PlanOptions options;
  if (const std::size_t at = text.rfind("\n--set "); at != std::string_view::npos) {
    options.overrides.emplace_back(text.substr(at + 7));
    text = text.substr(0, at + 1);
  }
  const hyphos::Result<hyphos::Plan> plan = hyphos::parse_plan(text, "fuzz.yaml", options);
  if (!plan) {
    if (plan.error().message.empty() || plan.error().where.empty()) std::abort();
    return 0;
  }
  const std::string json = hyphos::to_json(*plan);
  if (hyphos::find_bad_utf8(json) != std::string::npos) std::abort();
  if (hyphos::to_text(*plan).empty() || hyphos::to_dot(*plan).empty()) std::abort();
  for (const hyphos::ProcessPlan& process : plan->processes) {
    if (!hyphos::connections(*plan, process.name)) std::abort();
  }
  return 0;
}
