#include "view/sources/open.hpp"

#include <filesystem>
#include <string_view>

#include "hyphos/plan.hpp"

namespace hyphos::view {
namespace {

Result<std::unique_ptr<Source>> open_plan(const std::string& path, const OpenOptions& options) {
  auto plan = load_plan(path);
  if (!plan) return plan.error();
  return open_live(options.domain.empty() ? plan->domain : options.domain, options);
}

Error unknown(const std::string& what) {
  return {Code::unsupported,
          "the viewer opens a recording (*.mcap) or a plan (*.yaml). Without a file it shows the "
          "robot that runs in the domain",
          what};
}

}  // namespace

// A new kind of source is one line here.
Result<std::unique_ptr<Source>> open_source(const std::string& what, const OpenOptions& options) {
  if (what.empty()) return open_live(options.domain, options);
  std::error_code ignored;
  if (!std::filesystem::exists(what, ignored)) {
    return Error{Code::not_found, "no such file", what};
  }
  const std::string kind = std::filesystem::path(what).extension().string();
  if (kind == ".mcap") return open_recording(what, options);
  if (kind == ".yaml" || kind == ".yml") return open_plan(what, options);
  if (kind == ".bag" || kind == ".db3" || std::filesystem::is_directory(what, ignored)) {
    return Error{Code::unsupported, "convert it first: hyphos bag convert " + what + " -o OUT.mcap",
                 what};
  }
  return unknown(what);
}

}  // namespace hyphos::view
