#include "cosim/scenario/routing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>

#include "cosim/radio/kinds.hpp"
#include "cosim/routing/aodv.hpp"
#include "cosim/scenario/ranges.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {
namespace {

using config::Problems;
using config::Section;
using config::Value;
using Table = routing::TableRouter::Table;

constexpr Duration kHello = Duration::from_ms(1000);
constexpr std::string_view kDefault = "default";

std::optional<NodeId> find_robot(const Scenario& scenario, const std::string& name,
                                 const config::Source& source, const std::string& path,
                                 Problems& problems) {
  const auto found = std::ranges::find(scenario.robots, name);
  if (found != scenario.robots.end()) {
    return static_cast<NodeId>(found - scenario.robots.begin());
  }
  const std::vector<std::string_view> known(scenario.robots.begin(), scenario.robots.end());
  problems.error(source, path + ": unknown robot '" + name + "'" +
                             config::suggestion(problems, name, "robots are", known));
  return std::nullopt;
}

/// Reads the routes of one robot: the next robot by receiver, and `default` for all other
/// receivers.
void read_table(const config::Entry& entry, NodeId robot, Scenario& scenario, Problems& problems) {
  const std::string path = "routing.routes." + entry.key;
  if (!entry.value.is(Value::Kind::map)) {
    return problems.error(entry.source,
                          path + ": expected a map from a receiver to the next robot");
  }
  Table& table = scenario.routing.tables[robot];
  std::optional<NodeId> rest;
  for (const config::Entry& route : entry.value.entries) {
    const auto next = find_robot(scenario, route.value.text, route.value.source,
                                 path + "." + route.key, problems);
    if (!next) continue;
    if (*next == robot) {
      problems.error(route.value.source,
                     path + "." + route.key + ": the next robot is the robot itself");
      continue;
    }
    if (route.key == kDefault) {
      rest = next;
      continue;
    }
    const auto to = find_robot(scenario, route.key, route.source, path, problems);
    if (!to) continue;
    if (*to == robot) {
      problems.error(route.source, path + "." + route.key + ": a robot needs no route to itself");
      continue;
    }
    table[*to] = *next;
  }
  if (!rest) return;
  for (NodeId to = 0; to < scenario.robots.size(); ++to) {
    if (to != robot) table.try_emplace(to, *rest);
  }
}

/// Follows every route to its end. Returns the first loop, as text.
std::optional<std::string> find_loop(const Scenario& scenario) {
  const auto& tables = scenario.routing.tables;
  for (NodeId to = 0; to < tables.size(); ++to) {
    for (NodeId from = 0; from < tables.size(); ++from) {
      std::set<NodeId> visited;
      std::string way;
      for (NodeId at = from; at != to;) {
        way += (way.empty() ? "" : " → ") + scenario.robots[at];
        if (!visited.insert(at).second) {
          return "the packets to " + scenario.robots[to] + " go in a circle: " + way;
        }
        const auto next = tables[at].find(to);
        at = next == tables[at].end() ? to : next->second;
      }
    }
  }
  return std::nullopt;
}

void read_tables(const Section& section, Scenario& scenario, Problems& problems) {
  const Value* routes = section.find("routes");
  if (routes == nullptr || !routes->is(Value::Kind::map) || routes->entries.empty()) {
    return section.error("routes",
                         "expected a map such as {husky1: {husky3: husky2}}: packets of husky1 to "
                         "husky3 go to husky2 first");
  }
  scenario.routing.tables.resize(scenario.robots.size());
  for (const config::Entry& entry : routes->entries) {
    const auto robot =
        find_robot(scenario, entry.key, entry.source, section.path("routes"), problems);
    if (robot) read_table(entry, *robot, scenario, problems);
  }
  if (problems.failed()) return;
  if (const auto loop = find_loop(scenario)) section.error("routes", *loop);
}

bool acknowledges(const Scenario& scenario) {
  const RadioKind* const kind = find_radio(scenario.radio.kind);
  return kind == nullptr || kind->acknowledges;
}

}  // namespace

OffTimes read_off_times(const Section& robot) {
  OffTimes times;
  for (const config::Word& word : robot.words("off_s")) {
    double seconds = 0;
    const bool number = config::parse_real(word.text, seconds) == config::RealText::number;
    const Time at{number && seconds >= 0 && seconds <= kMostSeconds ? std::llround(seconds * 1e9)
                                                                    : -1};
    if (at.ns < 0 || (!times.empty() && at <= times.back())) {
      robot.error("off_s",
                  "expected times in seconds that increase: off, on, off, and so on, such as [20, "
                  "35]");
      return {};
    }
    times.push_back(at);
  }
  return times;
}

void read_routing(const Section& root, Scenario& scenario, Problems& problems) {
  using enum RoutingProtocol;
  const Section section(root.find("routing"), "routing", problems,
                        {"protocol", "routes", "hello_s"});
  if (!root.has("routing")) return;
  Routing& to = scenario.routing;
  if (!section.has("protocol")) section.error("protocol", "is missing: give table, aodv or babel");
  to.protocol = section.choice<RoutingProtocol>(
      "protocol", none, {{"none", none}, {"table", table}, {"aodv", aodv}, {"babel", babel}});
  if (to.protocol == table) {
    read_tables(section, scenario, problems);
  } else if (section.has("routes")) {
    section.error("routes", "only valid with `protocol: table`");
  }
  const bool must_greet = to.protocol == babel || !acknowledges(scenario);
  if (to.protocol == none || to.protocol == table) {
    if (section.has("hello_s")) {
      section.error("hello_s", "only valid with `protocol: aodv` or `babel`");
    }
  } else {
    to.hello = {std::llround(
        section.real("hello_s", must_greet ? kHello.seconds() : 0, must_greet ? 0.01 : 0, 600) *
        1e9)};
  }
  if (to.protocol != none && scenario.flows.via != kEveryone) {
    section.error("protocol", "not valid with `traffic.via`, which is a route of its own");
  }
  if (to.protocol != none && scenario.robots.size() >= routing::kMostNodes) {
    section.error("protocol", "routing is limited to 65,534 robots");
  }
}

Result<std::unique_ptr<routing::Routed>> route(const Scenario& scenario,
                                               std::unique_ptr<Programs>& programs) {
  const Routing& routing = scenario.routing;
  if (routing.protocol == RoutingProtocol::none) return std::unique_ptr<routing::Routed>();
  if (routing.protocol == RoutingProtocol::babel) {
    return Error{Code::invalid_config,
                 "routing.protocol: babel is a daemon for real time (`hyphos cosim emulate`): in "
                 "lock step use aodv or table",
                 "routing"};
  }
  routing::AodvOptions aodv;
  aodv.hello = routing.hello;
  std::vector<std::unique_ptr<routing::Router>> routers;
  for (NodeId node = 0; node < scenario.robots.size(); ++node) {
    if (routing.protocol == RoutingProtocol::table) {
      routers.push_back(std::make_unique<routing::TableRouter>(node, routing.tables[node]));
    } else {
      routers.push_back(std::make_unique<routing::Aodv>(node, aodv, scenario.seed));
    }
  }
  return std::make_unique<routing::Routed>(std::move(programs), std::move(routers),
                                           acknowledges(scenario));
}

std::vector<Healing> healings(const std::vector<OffTimes>& off,
                              const std::vector<FlowResult>& flows) {
  std::vector<Healing> all;
  for (NodeId robot = 0; robot < off.size(); ++robot) {
    for (std::size_t i = 0; i < off[robot].size(); i += 2) {
      for (std::size_t flow = 0; flow < flows.size(); ++flow) {
        const FlowOptions& options = flows[flow].options;
        if (options.from == robot || options.to == robot || options.to == kEveryone) continue;
        Healing healing{robot, off[robot][i], flow};
        bool any = false;
        for (const Message& message : flows[flow].messages) {
          if (message.sent < healing.at) continue;
          any = true;
          if (message.delivered != kNever) {
            healing.after = message.delivered - healing.at;
            break;
          }
          ++healing.lost;
        }
        if (any) all.push_back(healing);
      }
    }
  }
  return all;
}

std::string to_text(const Scenario& scenario, const RoutingReport& report) {
  std::string text;
  if (!report.robots.empty()) {
    routing::Router::Counts sum;
    std::uint64_t relayed = 0;
    for (const auto& [counts, by_robot, drops] : report.robots) {
      relayed += by_robot;
      sum.requests += counts.requests;
      sum.replies += counts.replies;
      sum.errors += counts.errors;
      sum.hellos += counts.hellos;
      sum.discoveries += counts.discoveries;
      sum.found += counts.found;
      sum.broken += counts.broken;
    }
    text += "routing    " + std::string(to_string(scenario.routing.protocol)) + ": " +
            std::to_string(relayed) + " packets relayed";
    if (scenario.routing.protocol == RoutingProtocol::aodv) {
      text += ", " + std::to_string(sum.found) + " of " + std::to_string(sum.discoveries) +
              " searches found a route, " + std::to_string(sum.broken) +
              " links broke\n           " + std::to_string(sum.requests) + " requests, " +
              std::to_string(sum.replies) + " replies, " + std::to_string(sum.errors) +
              " errors, " + std::to_string(sum.hellos) + " hello messages sent";
    }
    text += "\n";
  }
  for (const Healing& healing : report.healings) {
    std::array<char, 160> line{};
    const bool healed = healing.after.ns != kNever.ns;
    std::snprintf(line.data(), line.size(),
                  "after %.3f s, when %s went off: ", static_cast<double>(healing.at.ns) * 1e-9,
                  scenario.robots[healing.robot].c_str());
    text += "heal       " + std::string(line.data()) + "flow " +
            scenario.flows.flows[healing.flow].name + " ";
    if (healed) {
      std::snprintf(line.data(), line.size(), "arrives again after %.1f ms, ", healing.after.ms());
      text += line.data();
    } else {
      text += "never arrives again, ";
    }
    text +=
        std::to_string(healing.lost) + (healing.lost == 1 ? " message lost\n" : " messages lost\n");
  }
  return text;
}

}  // namespace hyphos::cosim
