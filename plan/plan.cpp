#include "hyphos/plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "plan/build.hpp"
#include "plan/load.hpp"
#include "plan/replicas.hpp"

namespace hyphos {
namespace {

constexpr std::int64_t kSchemaVersion = 1;

template <typename T>
const T* find_named(const std::vector<T>& all, std::string_view name) {
  for (const T& one : all) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

/// Checks the `hyphos: 1` line. The listings of the paper have none.
void check_version(config::Value& root, config::Problems& problems) {
  const config::Value* version = root.find("hyphos");
  std::int64_t number = 0;
  if (version == nullptr) {
    if (root.is(config::Value::Kind::map) && !plan::is_listing(root)) {
      problems.error({root.source.file, 1, 1}, "hyphos: missing. Begin the file with 'hyphos: 1'");
    }
  } else if (!config::read_integer(*version, number) || number != kSchemaVersion) {
    problems.error(version->source, "hyphos: expected 1, the version this program reads, found " +
                                        config::describe(*version));
  }
}

Result<Plan> make_plan(std::string_view text, const std::string& name,
                       const std::filesystem::path& path, const PlanOptions& options) {
  config::Problems problems;
  config::Value root = plan::load_tree(text, name, path, problems);
  // Text that is not YAML has no sections to check.
  if (problems.failed() && root.entries.empty()) return problems.to_error();
  if (root.is(config::Value::Kind::null)) {
    return Error{Code::invalid_config, "the file is empty. Begin it with 'hyphos: 1'", name};
  }
  check_version(root, problems);
  for (const std::string& one : options.overrides) plan::apply_override(root, one, problems);
  plan::expand_replicas(root, problems);
  Plan start;
  start.file = name;
  start.directory = path.parent_path();
  return plan::build_plan(root, std::move(start), options, problems);
}

Error cannot_read(const ParamValue& value, const char* as) {
  const bool scalar = value.kind == ParamValue::Kind::scalar;
  const char* kind = value.kind == ParamValue::Kind::list  ? "a list"
                     : value.kind == ParamValue::Kind::map ? "a map"
                                                           : "nothing";
  return Error{
      Code::invalid_config,
      std::string("expected ") + as + ", found " + (scalar ? "'" + value.text + "'" : kind),
      value.source.to_string()};
}

config::Value as_scalar(const ParamValue& value) {
  config::Value out;
  out.kind = value.kind == ParamValue::Kind::scalar ? config::Value::Kind::scalar
                                                    : config::Value::Kind::null;
  out.plain = !value.quoted;
  out.text = value.text;
  return out;
}

}  // namespace

std::string SourceLine::to_string() const {
  if (line == 0) return file;
  return file + ":" + std::to_string(line) + ":" + std::to_string(column);
}

std::string_view to_string(Reach value) {
  switch (value) {
    case Reach::local:
      return "local";
    case Reach::machine:
      return "machine";
    case Reach::network:
      return "network";
  }
  return "unknown";
}

std::string_view to_string(Restart value) {
  switch (value) {
    case Restart::never:
      return "never";
    case Restart::on_failure:
      return "on_failure";
    case Restart::always:
      return "always";
  }
  return "unknown";
}

std::string_view to_string(Ready value) {
  switch (value) {
    case Ready::started:
      return "started";
    case Ready::nodes:
      return "nodes";
  }
  return "unknown";
}

std::string_view to_string(NodeKind value) {
  switch (value) {
    case NodeKind::plugin:
      return "plugin";
    case NodeKind::python:
      return "python";
    case NodeKind::executable:
      return "executable";
    case NodeKind::gateway:
      return "gateway";
    case NodeKind::builtin:
      return "builtin";
    case NodeKind::external:
      return "external";
  }
  return "unknown";
}

std::string_view to_string(ProcessKind value) {
  switch (value) {
    case ProcessKind::native:
      return "native";
    case ProcessKind::python:
      return "python";
    case ProcessKind::executable:
      return "executable";
  }
  return "unknown";
}

const ParamValue* ParamValue::find(std::string_view path) const {
  const ParamValue* at = this;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view key = path.substr(0, dot);
    const auto match = [&](const auto& entry) { return entry.key == key; };
    const auto found = std::find_if(at->entries.begin(), at->entries.end(), match);
    if (found == at->entries.end()) return nullptr;
    if (dot == std::string_view::npos) return &found->value;
    at = &found->value;
    path.remove_prefix(dot + 1);
  }
}

Result<std::int64_t> ParamValue::as_integer() const {
  std::int64_t number = 0;
  if (config::read_integer(as_scalar(*this), number)) return number;
  const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const bool too_large = kind == Kind::scalar && !quoted && text.size() > sign &&
                         text.find_first_not_of("0123456789", sign) == std::string::npos;
  return cannot_read(*this, too_large ? "a whole number from -9223372036854775808 to "
                                        "9223372036854775807"
                                      : "a whole number");
}

Result<double> ParamValue::as_real() const {
  double real = 0;
  const auto found =
      kind == Kind::scalar && !quoted ? config::parse_real(text, real) : config::RealText::other;
  if (found == config::RealText::number) return real;
  return cannot_read(*this, found == config::RealText::too_large
                                ? "a number from -1.8e308 to 1.8e308"
                                : "a number");
}

Result<bool> ParamValue::as_boolean() const {
  bool flag = false;
  if (config::read_boolean(as_scalar(*this), flag)) return flag;
  return cannot_read(*this, "true or false");
}

Result<std::string> ParamValue::as_text() const {
  // If a parameter is declared as text, null and ~ are texts.
  if (kind == Kind::scalar || (kind == Kind::null && !text.empty())) return text;
  return cannot_read(*this, "text");
}

const std::string& NodePlan::channel_for(const std::string& code_name) const {
  for (const auto& [from, to] : remap) {
    if (from == code_name) return to;
  }
  return code_name;
}

const HostPlan* Plan::host(std::string_view name) const { return find_named(hosts, name); }
const ProcessPlan* Plan::process(std::string_view name) const {
  return find_named(processes, name);
}
const NodePlan* Plan::node(std::string_view name) const { return find_named(nodes, name); }
const CallPlan* Plan::call(std::string_view name, bool action) const {
  for (const CallPlan& call : calls) {
    if (call.name == name && call.action == action) return &call;
  }
  return nullptr;
}

const GroupPlan* Plan::group(std::string_view name) const { return find_named(groups, name); }
const GroupPlan* Plan::group_of(std::string_view node) const {
  for (const GroupPlan& group : groups) {
    if (std::find(group.nodes.begin(), group.nodes.end(), node) != group.nodes.end()) return &group;
  }
  return nullptr;
}
bool Plan::may_run(const NodePlan& node, std::string_view process) const {
  if (node.process == process) return true;
  const GroupPlan* const group = group_of(node.name);
  if (group == nullptr) return false;
  const auto& targets = group->moves_to;
  return std::find(targets.begin(), targets.end(), process) != targets.end();
}
const ChannelPlan* Plan::channel(std::string_view name) const { return find_named(channels, name); }

std::filesystem::path Plan::resolve(const std::string& path) const {
  return (directory / path).lexically_normal();
}

namespace {

/// The file of a program in PATH, or empty if there is none.
std::filesystem::path find_on_path(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  std::string_view left = variable == nullptr ? "" : variable;
  while (!left.empty()) {
    const std::size_t end = left.find(':');
    const std::filesystem::path found = std::filesystem::path(left.substr(0, end)) / name;
    if (found.is_absolute() && access(found.c_str(), X_OK) == 0) return found;
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
  }
  return {};
}

}  // namespace

std::filesystem::path Plan::program_file(const NodePlan& node) const {
  // The shell or the dynamic loader would search for a bare name elsewhere.
  const auto here = [](std::filesystem::path path) {
    return path.has_parent_path() ? path : "." / path;
  };
  const bool bare = node.program.find('/') == std::string::npos;
  std::error_code fault;
  if (node.kind == NodeKind::executable && bare &&
      !std::filesystem::exists(resolve(node.program), fault)) {
    if (const auto found = find_on_path(node.program); !found.empty()) return found;
  }
  if (node.kind != NodeKind::plugin || !bare) return here(resolve(node.program));
  for (const std::filesystem::path& place : plugin_path) {
    std::error_code ignored;
    std::filesystem::path candidate = place / node.program;
    if (std::filesystem::exists(candidate, ignored)) return here(std::move(candidate));
  }
  return node.program;
}

Result<Plan> load_plan(const std::filesystem::path& path, const PlanOptions& options) {
  Result<std::string> text = config::read_file(path.string());
  if (!text) return text.error();
  return make_plan(*text, path.string(), path, options);
}

Result<Plan> parse_plan(std::string_view text, const std::string& name,
                        const PlanOptions& options) {
  return make_plan(text, name, {}, options);
}

}  // namespace hyphos
