#include "cosim/scenario/check.hpp"

#include <algorithm>
#include <set>

#include "base/config.hpp"
#include "base/json.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::size_t kMostErrors = 20;

void put_text(JsonWriter& json, std::string_view key, std::string_view value) {
  json.key(key);
  json.text(value);
}

Overrides with(const Overrides& overrides, const std::string& option, std::string_view line) {
  Overrides made = overrides;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find('\t'), line.size());
    made.settings.push_back({option, std::string(line.substr(0, end))});
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return made;
}

/// Appends the lines of an error that are new.
void add_lines(const Error& error, std::set<std::string>& known, std::string& all) {
  const std::string text = error.where.empty() ? error.message : error.where + ": " + error.message;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool count = line.ends_with(" errors") && line.find(':') == std::string::npos;
    if (count || known.size() == kMostErrors || !known.insert(line).second) continue;
    all += (all.empty() ? "" : "\n") + line;
  }
}

}  // namespace

std::string describe(const Scenario& scenario) {
  JsonWriter json;
  json.begin_object();
  json.key("robots");
  json.begin_list();
  for (const std::string& robot : scenario.robots) json.text(robot);
  json.end_list();
  json.key("flows");
  json.begin_list();
  for (const auto& flow : scenario.flows.flows) json.text(flow.name);
  json.end_list();
  put_text(json, "method", scenario.method);
  put_text(json, "physics", to_string(scenario.physics));
  put_text(json, "network", to_string(scenario.network));
  json.key("duration_s");
  json.real(static_cast<double>(scenario.duration.ns) * 1e-9);
  json.end_object();
  return std::move(json).take();
}

Result<std::size_t> check_runs(const std::string& path, const Overrides& overrides,
                               const std::string& option, std::string_view lines) {
  auto text = config::read_file(path);
  if (!text) return text.error();
  std::set<std::string> known;
  std::string all;
  std::size_t checked = 0;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const Overrides run = with(overrides, option, lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    ++checked;
    const auto scenario = parse_scenario(*text, path, run);
    const auto valid = scenario ? check_scenario(*scenario, {}) : Result<void>(scenario.error());
    if (valid) continue;
    add_lines(valid.error(), known, all);
  }
  if (!known.empty()) return Error{Code::invalid_config, all, {}};
  return checked;
}

}  // namespace hyphos::cosim
