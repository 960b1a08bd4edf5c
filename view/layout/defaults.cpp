#include <algorithm>
#include <array>
#include <string>

#include "view/core/names.hpp"
#include "view/layout/layout.hpp"

namespace hyphos::view {
namespace {

constexpr std::size_t kMostImages = 2;    // panels
constexpr std::size_t kMostVisible = 12;  // displays of one kind
constexpr std::size_t kMostLines = 8;     // of the plot of single numbers
constexpr double kMapPitch = 0.95;        // rad
constexpr double kMapYaw = -1.9;          // rad

bool shows(const Kind& kind, const Channel& channel) {
  return std::find(kind.types.begin(), kind.types.end(), channel.type) != kind.types.end() &&
         channel.name.ends_with(kind.only_channel);
}

bool has(const std::vector<Kind>& kinds, std::string_view name) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == name; });
}

std::size_t count_displays(const Layout& layout, const std::string& kind) {
  return static_cast<std::size_t>(
      std::count_if(layout.displays.begin(), layout.displays.end(),
                    [&](const DisplayLayout& d) { return d.kind == kind; }));
}

bool is_channel_of_kind(const Vocabulary& words, std::string_view kind, const Channel& channel) {
  return std::any_of(words.displays.begin(), words.displays.end(),
                     [&](const Kind& one) { return one.name == kind && shows(one, channel); });
}

/// True if the neighbour of an image is its calibration, as the display finds it.
bool has_calibration(const Channel& image, std::span<const Channel> channels) {
  const std::size_t slash = image.name.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : image.name.substr(0, slash + 1);
  return std::any_of(
      channels.begin(), channels.end(),
      [name = folder + "camera_info"](const Channel& one) { return one.name == name; });
}

/// The part of a default layout that depends on all channels: layers which hide one another.
void arrange(DisplayLayout& made, const Layout& layout, std::span<const Channel> channels,
             const Vocabulary& words) {
  const auto any = [&](std::string_view kind) {
    return std::any_of(channels.begin(), channels.end(),
                       [&](const Channel& one) { return is_channel_of_kind(words, kind, one); });
  };
  // A model shows the frames of the robot. Their names would cover it.
  if (made.kind == "transforms" && any("robot_model")) made.visible = false;
  if (made.kind != "map") return;
  if (made.channel.find("costmap") != std::string::npos) {
    made.settings.emplace("scheme", "costmap");
    return;
  }
  // Two opaque maps hide one another. The one with the usual name is shown, else the first.
  const auto is_map = [&](const Channel& one) {
    return is_channel_of_kind(words, "map", one) && one.name.ends_with("map") &&
           one.name.find("costmap") == std::string::npos;
  };
  const bool named = std::any_of(channels.begin(), channels.end(), is_map);
  const bool usual = made.channel.ends_with("map");
  const bool shown = std::any_of(layout.displays.begin(), layout.displays.end(), [](const auto& d) {
    return d.kind == "map" && d.visible && d.settings.count("scheme") == 0;
  });
  made.visible = made.visible && !shown && (usual || !named);
}

void add_display(Layout& layout, const Channel& channel, std::span<const Channel> channels,
                 const Vocabulary& words) {
  if (layout.displays.size() >= kMaxDisplays) return;
  for (const Kind& kind : words.displays) {
    if (!shows(kind, channel)) continue;
    // A pixel image stands in a panel. In the 3-D view it needs a calibration.
    if (kind.name == "image" && !has_calibration(channel, channels)) continue;
    // One display shows the frames of all channels.
    if (kind.name == "transforms" && count_displays(layout, kind.name) > 0) return;
    DisplayLayout made;
    made.kind = kind.name;
    made.channel = channel.name;
    made.visible = count_displays(layout, kind.name) < kMostVisible;
    if (kind.name == "image") made.settings.emplace("place", "scene");
    arrange(made, layout, channels, words);
    layout.displays.push_back(std::move(made));
    return;
  }
}

std::size_t count_panels(const PanelLayout& node, std::string_view kind) {
  std::size_t sum = node.split == PanelLayout::Split::none && node.kind == kind ? 1 : 0;
  for (const PanelLayout& child : node.children) sum += count_panels(child, kind);
  return sum;
}

bool shows_channel(const PanelLayout& node, std::string_view kind, const std::string& channel) {
  const auto setting = node.settings.find("channel");
  if (node.kind == kind && setting != node.settings.end() && setting->second.word() == channel) {
    return true;
  }
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const PanelLayout& child) { return shows_channel(child, kind, channel); });
}

std::size_t count_leaves(const PanelLayout& node) {
  if (node.split == PanelLayout::Split::none) return 1;
  std::size_t sum = 0;
  for (const PanelLayout& child : node.children) sum += count_leaves(child);
  return sum;
}

PanelLayout leaf(std::string kind, double size = 1) {
  PanelLayout made;
  made.kind = std::move(kind);
  made.size = size;
  return made;
}

/// The column at the right of the window, made if there is none.
PanelLayout& side_column(Layout& layout) {
  PanelLayout& root = layout.panels;
  if (root.split != PanelLayout::Split::columns) {
    PanelLayout columns;
    columns.split = PanelLayout::Split::columns;
    PanelLayout main = std::move(root);
    main.size = 5;
    PanelLayout side;
    side.split = PanelLayout::Split::rows;
    side.size = 3;
    columns.children = {std::move(main), std::move(side)};
    root = std::move(columns);
  }
  PanelLayout& side = root.children.back();
  if (side.split != PanelLayout::Split::rows) {
    PanelLayout rows;
    rows.split = PanelLayout::Split::rows;
    rows.size = side.size;
    side.size = 1;
    rows.children.push_back(std::move(side));
    side = std::move(rows);
  }
  return side;
}

void add_panels(Layout& layout, std::span<const Channel> channels, const Vocabulary& words) {
  for (const Kind& kind : words.panels) {
    if (kind.types.empty()) continue;
    const std::size_t most = kind.name == "image" ? kMostImages : 1;
    for (const Channel& channel : channels) {
      if (!shows(kind, channel)) continue;
      if (count_panels(layout.panels, kind.name) >= most) break;
      if (count_leaves(layout.panels) >= kMaxPanels) return;
      if (shows_channel(layout.panels, kind.name, channel.name)) continue;
      PanelLayout made = leaf(kind.name);
      const bool names_channel =
          std::find(kind.settings.begin(), kind.settings.end(), "channel") != kind.settings.end();
      if (names_channel) made.settings.emplace("channel", channel.name);
      PanelLayout& side = side_column(layout);
      // Pictures stand above tables.
      const auto at = kind.name == "image" ? side.children.begin() : side.children.end();
      side.children.insert(at, std::move(made));
    }
  }
}

PanelLayout* find_panel(PanelLayout& node, std::string_view kind) {
  if (node.split == PanelLayout::Split::none) return node.kind == kind ? &node : nullptr;
  for (PanelLayout& child : node.children) {
    if (PanelLayout* const found = find_panel(child, kind)) return found;
  }
  return nullptr;
}

/// Channels of single numbers, such as those of View::scalar(), share one plot.
void add_numbers(Layout& layout, std::span<const Channel> channels, const Vocabulary& words) {
  static constexpr std::array<std::string_view, 6> kNumbers = {
      "hyphos.msgs.Float64", "hyphos.msgs.Float32", "hyphos.msgs.Int64",
      "hyphos.msgs.Int32",   "hyphos.msgs.UInt64",  "hyphos.msgs.UInt32"};
  if (!has(words.panels, "plot")) return;
  for (const Channel& channel : channels) {
    if (std::ranges::find(kNumbers, channel.type) == kNumbers.end()) continue;
    PanelLayout* plot = find_panel(layout.panels, "plot");
    if (plot == nullptr) {
      if (count_leaves(layout.panels) >= kMaxPanels) return;
      side_column(layout).children.push_back(leaf("plot"));
      plot = find_panel(layout.panels, "plot");
      plot->settings.emplace("fields", Setting::of({}));
    }
    const auto fields = plot->settings.find("fields");
    if (fields == plot->settings.end() || fields->second.words.size() >= kMostLines) return;
    const std::string line = channel.name + ":data";
    if (std::ranges::find(fields->second.words, line) == fields->second.words.end()) {
      fields->second.words.push_back(line);
    }
  }
}

}  // namespace

Layout default_layout(std::span<const Channel> channels, const Vocabulary& words) {
  Layout made;
  made.panels = leaf("scene");
  if (has(words.displays, "grid")) {
    DisplayLayout grid;
    grid.kind = "grid";
    made.displays.push_back(std::move(grid));
  }
  if (has(words.panels, "channels")) side_column(made).children.push_back(leaf("channels"));
  if (has(words.panels, "displays")) {
    (void)side_column(made);
    made.panels.children.insert(made.panels.children.begin(), leaf("displays", 1.7));
  }
  extend_layout(made, channels, words);
  // A flat map fills the view from a steeper angle, and almost along its axes.
  if (count_displays(made, "map") > 0) {
    made.camera.pitch = kMapPitch;
    made.camera.yaw = kMapYaw;
  }
  return made;
}

void add_parts(Layout& layout, std::span<const Part> parts, std::span<const Channel> channels) {
  const auto exists = [&](const std::string& name) {
    return std::any_of(channels.begin(), channels.end(),
                       [&](const Channel& each) { return each.name == name; });
  };
  const auto of_any = [&](const DisplayLayout& display) {
    return std::any_of(parts.begin() + 1, parts.end(),
                       [&](const Part& part) { return is_of_part(part.label, display.channel); });
  };
  if (parts.empty()) return;
  const std::vector<DisplayLayout> own = layout.displays;
  for (const Part& part : parts.subspan(1)) {
    const auto shown = [&](const DisplayLayout& each) {
      return is_of_part(part.label, each.channel);
    };
    if (std::any_of(own.begin(), own.end(), shown)) continue;
    for (DisplayLayout display : own) {
      if (display.channel.empty() || of_any(display)) continue;
      display.channel = part_channel(part.label, display.channel);
      if (!part.live && !exists(display.channel)) continue;
      if (layout.displays.size() >= kMaxDisplays) return;
      // A property may name another channel, e.g. that of a calibration.
      for (auto& [key, setting] : display.settings) {
        for (std::string& word : setting.words) {
          if (exists(part_channel(part.label, word))) word = part_channel(part.label, word);
        }
      }
      layout.displays.push_back(std::move(display));
    }
  }
}

void extend_layout(Layout& layout, std::span<const Channel> added, const Vocabulary& words) {
  for (const Channel& channel : added) {
    const bool shown =
        std::any_of(layout.displays.begin(), layout.displays.end(),
                    [&](const DisplayLayout& d) { return d.channel == channel.name; });
    if (!shown) add_display(layout, channel, added, words);
  }
  add_panels(layout, added, words);
  add_numbers(layout, added, words);
}

}  // namespace hyphos::view
