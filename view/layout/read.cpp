#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <unordered_set>

#include "base/config.hpp"
#include "base/config_reader.hpp"
#include "view/layout/layout.hpp"

namespace hyphos::view {
namespace {

using config::Entry;
using config::Problems;
using config::Section;
using config::Value;

constexpr double kFar = 1e9;     // m
constexpr double kTurns = 1000;  // rad
constexpr double kSizeMost = 1e3;
constexpr std::size_t kMaxSettingWords = 256;
constexpr std::size_t kMaxViews = 256;
constexpr std::size_t kMaxShifts = 3;  // of further sources
constexpr double kLongShift = 1e9;     // s

std::vector<std::string_view> names_of(const std::vector<Kind>& kinds) {
  std::vector<std::string_view> names;
  names.reserve(kinds.size());
  for (const Kind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

const Kind* find(const std::vector<Kind>& kinds, std::string_view name) {
  for (const Kind& kind : kinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

/// The number of this value, or the fallback with a problem.
double number(const Value& value, const std::string& path, double least, double most,
              double fallback, Problems& problems) {
  double found = 0;
  if (config::read_real(value, found) && found >= least && found <= most) return found;
  std::array<char, 80> range{};
  std::snprintf(range.data(), range.size(), ": expected a number from %g to %g, found ", least,
                most);
  problems.error(value.source, path + range.data() + config::describe(value));
  return fallback;
}

Setting read_setting(const Value& value, const std::string& path, Problems& problems) {
  Setting made;
  made.where = value.source.to_string();
  if (value.is(Value::Kind::scalar)) {
    made.words.push_back(value.text);
    return made;
  }
  made.list = true;
  if (!value.is(Value::Kind::list)) {
    problems.error(value.source,
                   path + ": expected a word or a list of words, found " + config::describe(value));
    return made;
  }
  if (value.items.size() > kMaxSettingWords) {
    problems.error(value.source,
                   path + ": more than " + std::to_string(kMaxSettingWords) + " words in one list");
    return made;
  }
  for (const Value& item : value.items) {
    if (item.is(Value::Kind::scalar)) {
      made.words.push_back(item.text);
    } else {
      problems.error(item.source, path + ": expected a list of words, found " +
                                      config::describe(item) + " in it");
    }
  }
  return made;
}

/// The entries of a display or panel that are neither structure nor unknown.
Settings read_settings(const Value& map, const Kind& kind, const std::string& path,
                       const std::vector<std::string_view>& structure, Problems& problems) {
  Settings made;
  std::vector<std::string_view> allowed(structure);
  for (const std::string& name : kind.settings) allowed.emplace_back(name);
  for (const Entry& entry : map.entries) {
    const bool own = std::find(structure.begin(), structure.end(), entry.key) != structure.end();
    if (own) continue;
    if (std::find(kind.settings.begin(), kind.settings.end(), entry.key) == kind.settings.end()) {
      problems.error(entry.source,
                     path + "." + entry.key + ": unknown key" +
                         config::suggestion(problems, entry.key, "keys here", allowed));
      continue;
    }
    made.emplace(entry.key, read_setting(entry.value, path + "." + entry.key, problems));
  }
  return made;
}

/// The kind that an entry `key` names, or null with a problem.
const Kind* read_kind(const Value& map, std::string_view key, std::string_view what,
                      const std::vector<Kind>& kinds, const std::string& path, Problems& problems) {
  const Value* word = map.find(key);
  if (word == nullptr || !word->is(Value::Kind::scalar)) {
    problems.error(word == nullptr ? map.source : word->source,
                   path + ": expected `" + std::string(key) + ": KIND`" +
                       config::suggestion(problems, "", std::string(what) + "s", names_of(kinds)));
    return nullptr;
  }
  const Kind* kind = find(kinds, word->text);
  if (kind == nullptr) {
    problems.error(word->source, path + ": unknown " + std::string(what) + " '" + word->text + "'" +
                                     config::suggestion(problems, word->text,
                                                        std::string(what) + "s", names_of(kinds)));
  }
  return kind;
}

bool is_map(const Value& value, const std::string& path, Problems& problems) {
  if (value.is(Value::Kind::map)) return true;
  problems.error(value.source, path + ": expected a map, found " + config::describe(value));
  return false;
}

CameraLayout read_camera(const Value* value, const std::string& path, Problems& problems) {
  CameraLayout camera;
  const Section section(
      value, path, problems,
      {"kind", "follow", "follow_heading", "target", "distance", "yaw", "pitch", "roll"});
  camera.kind =
      section.word_of("kind", camera.kind, {"orbit", "first_person", "top_down", "anchor"});
  camera.follow = section.text("follow", {});
  camera.follow_heading = section.boolean("follow_heading", false);
  camera.distance = section.real("distance", camera.distance, 1e-3, kFar);
  camera.yaw = section.real("yaw", camera.yaw, -kTurns, kTurns);
  camera.pitch = section.real("pitch", camera.pitch, -kTurns, kTurns);
  camera.roll = section.real("roll", camera.roll, -kTurns, kTurns);
  if (const Value* target = section.find("target")) {
    if (!target->is(Value::Kind::list) || target->items.size() != camera.target.size()) {
      section.error("target",
                    "expected three numbers [x, y, z], found " + config::describe(*target));
    } else {
      for (std::size_t i = 0; i < camera.target.size(); ++i) {
        camera.target[i] =
            number(target->items[i], section.path("target"), -kFar, kFar, 0, problems);
      }
    }
  }
  return camera;
}

CompareLayout read_compare(const Value* value, Problems& problems) {
  CompareLayout compare;
  const Section section(value, "compare", problems,
                        {"arrange", "align", "shift_s", "alpha", "tint"});
  compare.arrange = section.word_of("arrange", compare.arrange, {"ghost", "columns"});
  compare.align = section.word_of("align", compare.align, {"start", "time"});
  compare.alpha = section.real("alpha", compare.alpha, 0.05, 1);
  compare.tint = section.real("tint", compare.tint, 0, 1);
  const Value* shift = section.find("shift_s");
  if (shift == nullptr) return compare;
  const auto read = [&](const Value& one) {
    compare.shift_s.push_back(number(one, "compare.shift_s", -kLongShift, kLongShift, 0, problems));
  };
  if (!shift->is(Value::Kind::list)) {
    read(*shift);
  } else if (shift->items.size() > kMaxShifts) {
    section.error("shift_s", "more than " + std::to_string(kMaxShifts) + " numbers");
  } else {
    for (const Value& one : shift->items) read(one);
  }
  return compare;
}

class Reader {
 public:
  Reader(const Vocabulary& words, Problems& problems) : words_(words), problems_(problems) {}

  Layout layout(const Value& root) {
    Layout made;
    const Section section(&root, "", problems_,
                          {"hyphos_view", "theme", "budget_mb", "fixed_frame", "compare", "camera",
                           "views", "displays", "panels"});
    if (!section.has("hyphos_view")) {
      problems_.error(root.source, "hyphos_view: missing. A layout begins with `hyphos_view: 1`");
    } else {
      (void)section.integer("hyphos_view", 1, 1, 1);
    }
    made.theme = section.word_of("theme", made.theme, {"dark", "light"});
    made.budget_mb = section.real("budget_mb", made.budget_mb, 16, 1 << 20);
    made.fixed_frame = section.text("fixed_frame", {});
    made.compare = read_compare(section.find("compare"), problems_);
    made.camera = read_camera(section.find("camera"), "camera", problems_);
    if (const Value* views = section.find("views")) read_views(*views, made);
    if (const Value* list = section.find("displays")) read_displays(*list, made);
    const Value* panels = section.find("panels");
    if (panels == nullptr) {
      made.panels.kind = "scene";
    } else {
      made.panels = panel(*panels, "panels");
    }
    return made;
  }

 private:
  void read_views(const Value& views, Layout& made) {
    if (!is_map(views, "views", problems_)) return;
    if (views.entries.size() > kMaxViews) {
      problems_.error(views.source, "views: more than " + std::to_string(kMaxViews));
      return;
    }
    for (const Entry& entry : views.entries) {
      made.views.emplace(entry.key, read_camera(&entry.value, "views." + entry.key, problems_));
    }
  }

  void read_displays(const Value& list, Layout& made) {
    if (!list.is(Value::Kind::list)) {
      problems_.error(list.source, "displays: expected a list, found " + config::describe(list));
      return;
    }
    if (list.items.size() > kMaxDisplays) {
      problems_.error(list.source, "displays: more than " + std::to_string(kMaxDisplays));
      return;
    }
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      const Value& item = list.items[i];
      const std::string path = "displays[" + std::to_string(i) + "]";
      if (!is_map(item, path, problems_)) continue;
      const Kind* kind = read_kind(item, "show", "display", words_.displays, path, problems_);
      if (kind == nullptr) continue;
      DisplayLayout display;
      display.kind = kind->name;
      display.where = item.source.to_string();
      if (const Value* channel = item.find("channel")) {
        if (channel->is(Value::Kind::scalar)) {
          display.channel = channel->text;
        } else {
          problems_.error(channel->source, path + ".channel: expected the name of a channel");
        }
      }
      if (const Value* visible = item.find("visible")) {
        if (!config::read_boolean(*visible, display.visible)) {
          problems_.error(visible->source, path + ".visible: expected true or false, found " +
                                               config::describe(*visible));
        }
      }
      display.settings =
          read_settings(item, *kind, path, {"show", "channel", "visible"}, problems_);
      made.displays.push_back(std::move(display));
    }
  }

  PanelLayout panel(const Value& value, const std::string& path) {
    PanelLayout made;
    made.kind = "scene";  // of a part that could not be read
    if (!is_map(value, path, problems_)) return made;
    made.where = value.source.to_string();
    if (const Value* size = value.find("size")) {
      made.size = number(*size, path + ".size", 1 / kSizeMost, kSizeMost, 1, problems_);
    }
    const Value* columns = value.find("columns");
    const Value* rows = value.find("rows");
    if (columns == nullptr && rows == nullptr) return leaf(value, path, std::move(made));
    made.kind.clear();
    made.split = columns != nullptr ? PanelLayout::Split::columns : PanelLayout::Split::rows;
    const std::string key = columns != nullptr ? "columns" : "rows";
    for (const Entry& entry : value.entries) {
      if (entry.key == key || entry.key == "size") continue;
      problems_.error(entry.source, path + "." + entry.key + ": a node with '" + key +
                                        "' has no other key than 'size'");
    }
    split(columns != nullptr ? *columns : *rows, path + "." + key, made);
    return made;
  }

  void split(const Value& list, const std::string& path, PanelLayout& made) {
    if (!list.is(Value::Kind::list) || list.items.empty()) {
      problems_.error(list.source,
                      path + ": expected a list of panels, found " +
                          (list.is(Value::Kind::list) ? "an empty list" : config::describe(list)));
      return;
    }
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      if (panels_ >= kMaxPanels) {
        problems_.error(list.items[i].source,
                        path + ": more than " + std::to_string(kMaxPanels) + " panels");
        return;
      }
      made.children.push_back(panel(list.items[i], path + "[" + std::to_string(i) + "]"));
    }
  }

  PanelLayout leaf(const Value& value, const std::string& path, PanelLayout made) {
    ++panels_;
    const Kind* kind = read_kind(value, "panel", "panel", words_.panels, path, problems_);
    if (kind == nullptr) return made;
    made.kind = kind->name;
    made.settings = read_settings(value, *kind, path, {"panel", "size"}, problems_);
    return made;
  }

  const Vocabulary& words_;
  Problems& problems_;
  std::size_t panels_ = 0;
};

}  // namespace

Result<Layout> parse_layout(std::string_view text, const std::string& name,
                            const Vocabulary& words) {
  Problems problems;
  const Value root = config::parse_yaml(text, name, problems);
  config::report_duplicates(root, problems);
  Layout made;
  if (!problems.failed()) made = Reader(words, problems).layout(root);
  if (problems.failed()) return problems.to_error();
  return made;
}

Result<Layout> load_layout(const std::string& path, const Vocabulary& words) {
  auto text = config::read_file(path);
  if (!text) return text.error();
  return parse_layout(*text, path, words);
}

}  // namespace hyphos::view
