#include "cosim/scenario/settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "base/config_reader.hpp"

namespace hyphos::cosim {
namespace {

using config::Entry;
using config::Problems;
using config::Section;
using config::Source;
using config::Value;

constexpr double kGap = 5;  // metres between a team and its copies
constexpr std::size_t kMostDepth = 32;

using Point = std::array<double, 3>;

/// One step of a path: a key, or the place in a list.
struct Part {
  std::string key;
  std::optional<std::size_t> item;
};

/// Reads "world.boxes[0].loss_db". Empty if it is not a path.
std::vector<Part> parts_of(std::string_view path) {
  std::vector<Part> parts;
  while (!path.empty() && parts.size() < kMostDepth) {
    const std::size_t end = path.find_first_of(".[");
    if (end == 0) return {};
    parts.push_back({std::string(path.substr(0, end)), std::nullopt});
    path.remove_prefix(std::min(end, path.size()));
    while (path.starts_with('[')) {
      std::size_t number = 0;
      const auto [rest, bad] = std::from_chars(path.data() + 1, path.data() + path.size(), number);
      const auto read = static_cast<std::size_t>(rest - path.data());
      if (bad != std::errc() || read >= path.size() || path[read] != ']') return {};
      parts.push_back({{}, number});
      path.remove_prefix(read + 1);
    }
    if (path.empty()) return parts;
    if (!path.starts_with('.') || path.size() == 1) return {};
    path.remove_prefix(1);
  }
  return {};
}

/// A value from an option has no line in a file.
void move_to(const Source& source, Value& value) {
  value.source = source;
  for (Value& item : value.items) move_to(source, item);
  for (Entry& entry : value.entries) {
    entry.source = source;
    move_to(source, entry.value);
  }
}

/// Maps with names that the user chose. A setting must not add a name by a typing mistake.
bool holds_names(const std::string& path) { return path == "robots" || path == "traffic.flows"; }

class Setter {
 public:
  Setter(Value& root, const Source& source, Problems& problems)
      : value_(&root), source_(source), problems_(problems) {}

  /// Goes to the value of a path and creates missing maps. Null after a Problem.
  Value* find(const std::vector<Part>& parts) {
    for (std::size_t i = 0; i < parts.size() && value_ != nullptr; ++i) {
      const bool last = i + 1 == parts.size();
      value_ = parts[i].item ? item(*parts[i].item) : entry(parts[i].key, last);
    }
    return value_;
  }

 private:
  Value* fail(const std::string& text) {
    problems_.error(source_, text);
    return nullptr;
  }

  Value* item(std::size_t index) {
    if (!value_->is(Value::Kind::list)) {
      return fail(path_ + ": expected a list, found " + config::describe(*value_));
    }
    if (index >= value_->items.size()) {
      return fail(path_ + "[" + std::to_string(index) + "]: the list has " +
                  std::to_string(value_->items.size()) + " items, numbered from 0");
    }
    path_ += "[" + std::to_string(index) + "]";
    return &value_->items[index];
  }

  Value* entry(const std::string& key, bool last) {
    if (value_->is(Value::Kind::null)) {
      *value_ = {};
      value_->kind = Value::Kind::map;
      value_->source = source_;
    }
    if (value_->is(Value::Kind::list)) {
      return fail(path_ + ": is a list, give the place of an item: " + path_ + "[0]." + key);
    }
    if (!value_->is(Value::Kind::map)) {
      return fail(path_ + ": has no key '" + key + "', it is " + config::describe(*value_));
    }
    const std::string here = path_;
    path_ += (path_.empty() ? "" : ".") + key;
    if (Value* found = value_->find(key); found != nullptr) return found;
    if (!last && holds_names(here)) {
      std::vector<std::string_view> names;
      for (const Entry& known : value_->entries) names.push_back(known.key);
      return fail(path_ + ": there is no '" + key + "'" +
                  config::suggestion(problems_, key, "names", names));
    }
    value_->entries.push_back({key, source_, {}});
    value_->entries.back().value.source = source_;
    return &value_->entries.back().value;
  }

  Value* value_;
  const Source& source_;
  Problems& problems_;
  std::string path_;
};

Source source_of(const OuterSetting& setting) {
  return {std::make_shared<const std::string>(setting.option), 0, 0};
}

/// Applies one setting. Returns the size of the team if it is `robots=N`.
std::optional<std::int64_t> apply(Value& root, const OuterSetting& setting, Problems& problems) {
  const Source source = source_of(setting);
  const std::size_t equal = setting.text.find('=');
  const std::string key = setting.text.substr(0, equal);
  const std::vector<Part> parts = parts_of(key);
  if (equal == std::string::npos || parts.empty()) {
    problems.error(source, "expected KEY=VALUE with a key such as radio.tx_power_dbm, found '" +
                               setting.text + "'");
    return std::nullopt;
  }
  Problems unreadable;
  Value value = config::parse_yaml(std::string_view(setting.text).substr(equal + 1),
                                   setting.option + " " + key, unreadable);
  config::report_duplicates(value, unreadable);
  if (unreadable.failed()) {
    const Error error = unreadable.to_error();
    problems.error(source, key + ": the value is not YAML: " + error.message);
    return std::nullopt;
  }
  move_to(source, value);
  if (key == "robots" && !value.is(Value::Kind::map)) {
    std::int64_t size = 0;
    if (config::read_integer(value, size) && size >= 2 && size <= kMostRobots) return size;
    problems.error(source, "robots: expected the number of robots from 2 to " +
                               std::to_string(kMostRobots) + ", or a map, found " +
                               config::describe(value));
    return std::nullopt;
  }
  if (Value* to = Setter(root, source, problems).find(parts)) *to = std::move(value);
  return std::nullopt;
}

bool parse_point(const Value& value, Point& point) {
  if (!value.is(Value::Kind::list) || value.items.size() != point.size()) return false;
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (!config::read_real(value.items[i], point[i])) return false;
  }
  return true;
}

/// Calls `use` with every position of a robot's path, and with the radius around it.
template <typename Use>
void each_point(Value& robot, const Use& use) {
  if (Value* at = robot.find("at")) use(*at, 0.0);
  if (Value* circle = robot.find("circle")) {
    double radius = 1;
    if (const Value* given = circle->find("radius_m")) (void)config::read_real(*given, radius);
    if (Value* centre = circle->find("centre")) use(*centre, radius);
  }
  if (Value* points = robot.find("waypoints")) {
    for (Value& point : points->items) use(point, 0.0);
  }
}

void move_point(Value& value, const Point& by) {
  Point point{};
  if (!parse_point(value, point)) return;  // reported when the scenario is read
  for (std::size_t i = 0; i < point.size(); ++i) {
    std::array<char, 32> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), point[i] + by[i]);
    value.items[i].text.assign(text.data(), end.ptr);
  }
}

/// The distance between two rounds of copies.
Point apart_of(Value& root, Value& robots, Problems& problems) {
  const Section copies(root.find("copies"), "copies", problems, {"apart_m"});
  Point given{};
  if (const Value* apart = copies.find("apart_m")) {
    if (!parse_point(*apart, given) || given == Point{}) {
      copies.error("apart_m", "expected three numbers [x, y, z] in metres, not all 0, found " +
                                  config::describe(*apart));
    }
    return given;
  }
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (Entry& entry : robots.entries) {
    each_point(entry.value, [&](const Value& value, double radius) {
      Point point{};
      if (!parse_point(value, point)) return;
      low = std::min(low, point[1] - radius);
      high = std::max(high, point[1] + radius);
    });
  }
  return {0, kGap + std::max(0.0, high - low), 0};
}

void resize_team(Value& root, std::int64_t size, const Source& source, Problems& problems) {
  Value* robots = root.find("robots");
  if (robots == nullptr || !robots->is(Value::Kind::map) || robots->entries.empty()) {
    return problems.error(source, "robots: the scenario has no robots to copy");
  }
  const Point apart = apart_of(root, *robots, problems);
  const std::size_t own = robots->entries.size();
  const auto wanted = static_cast<std::size_t>(size);
  if (wanted <= own) {
    robots->entries.resize(wanted);
    return;
  }
  const std::vector<Entry> team = robots->entries;
  for (std::size_t i = own; i < wanted; ++i) {
    Entry copy = team[i % own];
    const auto round = i / own;
    std::size_t number = round + 1;
    std::string name;
    do {
      name = copy.key + "_" + std::to_string(number++);
    } while (robots->find(name) != nullptr);
    const auto times = static_cast<double>(round);
    const Point by{apart[0] * times, apart[1] * times, apart[2] * times};
    bool placed = false;
    each_point(copy.value, [&](Value& point, double) {
      move_point(point, by);
      placed = true;
    });
    if (!placed) {
      return problems.error(source, "robots: " + copy.key +
                                        " has no path in the scenario, so it cannot be copied. "
                                        "Give at most " +
                                        std::to_string(own) + " robots");
    }
    copy.key = std::move(name);
    robots->entries.push_back(std::move(copy));
  }
}

}  // namespace

void apply_settings(Value& scenario, const std::vector<OuterSetting>& settings,
                    Problems& problems) {
  std::optional<std::int64_t> size;
  Source source;
  for (const OuterSetting& setting : settings) {
    if (const auto found = apply(scenario, setting, problems)) {
      size = found;
      source = source_of(setting);
    }
  }
  if (size) return resize_team(scenario, *size, source, problems);
  if (Value* robots = scenario.find("robots")) (void)apart_of(scenario, *robots, problems);
}

}  // namespace hyphos::cosim
