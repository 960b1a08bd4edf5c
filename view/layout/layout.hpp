#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hyphos/result.hpp"
#include "view/core/source.hpp"

/// A layout: the panels of the window, the displays of the 3-D view and the camera. One YAML file,
/// which can be read, compared and kept beside the robot.
///
///     hyphos_view: 1
///     fixed_frame: map
///     displays:
///       - {show: grid}
///       - {show: points, channel: lidar, color: height}
///     panels:
///       columns:
///         - {panel: scene, size: 3}
///         - rows:
///             - {panel: channels}
///             - {panel: plot, fields: [odom:twist.twist.linear.x]}
///
/// Plain data and pure functions, apart from load_layout() and save_layout(). No OpenGL.
namespace hyphos::view {

/// The value of one property, as written: a scalar, or a list of scalars.
struct Setting {
  std::vector<std::string> words;
  bool list = false;
  std::string where;  ///< "robot.view.yaml:12:5", empty if it is not from a file

  Setting() = default;
  Setting(std::string word) : words{std::move(word)} {}  // NOLINT: implicit by design
  Setting(const char* word) : words{word} {}             // NOLINT
  static Setting of(std::vector<std::string> words) {
    Setting made;
    made.words = std::move(words);
    made.list = true;
    return made;
  }
  /// Valid as long as the setting.
  [[nodiscard]] std::string_view word() const {
    if (words.empty()) return {};
    return words.front();
  }
  /// Two settings are equal if they have the same text, wherever it stands.
  bool operator==(const Setting& other) const { return words == other.words && list == other.list; }
};

/// Properties by name. Only those that differ from their defaults.
using Settings = std::map<std::string, Setting, std::less<>>;

/// A display of the 3-D view.
struct DisplayLayout {
  std::string kind;     ///< a name of displays/registry.hpp
  std::string channel;  ///< empty for displays without one, e.g. grid
  bool visible = true;
  Settings settings;
  std::string where;
  bool operator==(const DisplayLayout& other) const {
    return kind == other.kind && channel == other.channel && visible == other.visible &&
           settings == other.settings;
  }
};

/// A camera, or a saved view.
struct CameraLayout {
  std::string kind = "orbit";             ///< orbit, first_person, top_down, anchor
  std::string follow;                     ///< frame that the camera moves with, empty for none
  bool follow_heading = false;            ///< the camera also turns with that frame
  std::array<double, 3> target{0, 0, 0};  ///< m, in the fixed frame: the anchor
  double distance = 12;                   ///< m, from the anchor. top_down: visible height
  double yaw = 0.8;                       ///< rad
  double pitch = 0.6;                     ///< rad
  double roll = 0;                        ///< rad
  bool operator==(const CameraLayout&) const = default;
};

/// A node of the tree of splitters: a panel, or several nodes beside or below each other.
struct PanelLayout {
  enum class Split : std::uint8_t { none, columns, rows };
  Split split = Split::none;
  double size = 1;   ///< share of its parent, relative to the siblings
  std::string kind;  ///< of a panel: a name of panels/registry.hpp
  Settings settings;
  std::vector<PanelLayout> children;  ///< of a split: at least one
  std::string where;
  bool operator==(const PanelLayout& other) const {
    return split == other.split && size == other.size && kind == other.kind &&
           settings == other.settings && children == other.children;
  }
};

/// Several sources on one timeline.
struct CompareLayout {
  std::string arrange = "ghost";  ///< ghost, columns
  std::string align = "start";    ///< start, time
  std::vector<double> shift_s;    ///< of the second source and those after it, beyond `align`
  double alpha = 0.55;            ///< opacity of ghosts
  double tint = 0.6;              ///< part of the tint in the colours of ghosts
  bool operator==(const CompareLayout&) const = default;
};

struct Layout {
  std::string theme = "dark";  ///< dark, light
  double budget_mb = 512;      ///< of CPU and GPU memory
  std::string fixed_frame;     ///< empty: chosen from the frames that arrive
  CompareLayout compare;
  CameraLayout camera;
  std::map<std::string, CameraLayout> views;  ///< saved views
  std::vector<DisplayLayout> displays;
  PanelLayout panels;
  bool operator==(const Layout&) const = default;
};

/// A kind of display or panel: a word of layouts.
struct Kind {
  std::string name;
  std::vector<std::string> settings;  ///< names of its properties
  std::vector<std::string> types;     ///< of the channels that it shows, e.g. "hyphos.msgs.Path"
  std::string only_channel = {};      ///< end of the names of the channels, empty: any
};

/// The kinds that a layout may name. For errors that propose a word, and for default layouts.
struct Vocabulary {
  std::vector<Kind> displays;
  std::vector<Kind> panels;
};

inline constexpr std::size_t kMaxPanels = 64;
inline constexpr std::size_t kMaxDisplays = 512;

/// Errors: invalid_config with every place, "l.yaml:3:5: unknown display 'pionts' (did you mean
/// 'points'?)".
[[nodiscard]] Result<Layout> parse_layout(std::string_view text, const std::string& name,
                                          const Vocabulary& words);
[[nodiscard]] Result<Layout> load_layout(const std::string& path, const Vocabulary& words);
/// The canonical text: keys in one order, defaults left out, numbers as short as they read back.
/// parse_layout(layout_text(x)) == x.
[[nodiscard]] std::string layout_text(const Layout& layout);
/// Replaces the file atomically.
[[nodiscard]] Result<void> save_layout(const std::string& path, const Layout& layout);

/// A layout for a robot or recording without one: a display for each channel whose type has a
/// display, and the panels for the types that exist.
[[nodiscard]] Layout default_layout(std::span<const Channel> channels, const Vocabulary& words);
/// Shows the parts for which the layout has no display as it shows the first one: displays with the
/// same properties for channels that exist, or that a robot may offer later.
void add_parts(Layout& layout, std::span<const Part> parts, std::span<const Channel> channels);
/// The displays and panels of default_layout(channels) for channels that appeared later.
void extend_layout(Layout& layout, std::span<const Channel> added, const Vocabulary& words);

}  // namespace hyphos::view
