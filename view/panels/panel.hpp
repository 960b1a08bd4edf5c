#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "view/core/sample.hpp"
#include "view/layout/layout.hpp"

namespace hyphos {
class Node;
}

namespace hyphos::view {

class Session;

/// Takes a word of a layout, if it is there.
inline void read_word(const Settings& settings, std::string_view key, std::string& out) {
  if (const auto found = settings.find(key); found != settings.end()) out = found->second.word();
}

/// "Never" as an instant for a next frame.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// A part of the window that shows messages or the state of the middleware.
///
/// A panel is one file in this folder and one line in panels/registry.cpp. All functions run in the
/// thread of the view, between ImGui::NewFrame() and Render() only draw(). A panel holds no OpenGL
/// object and bounds its memory, which memory() reports.
class Panel {
 public:
  Panel() = default;
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;
  virtual ~Panel() = default;

  /// The channels whose samples take() needs now.
  [[nodiscard]] virtual std::set<std::string> channels() const { return {}; }
  /// The past that the panel shows, to be passed again after a seek.
  [[nodiscard]] virtual std::int64_t history_ns() const { return 0; }
  /// A sample of one of channels(). Returns true if the next draw() would look different.
  virtual bool take(Session&, const Channel&, const Sample&) { return false; }
  /// The samples that follow replace all earlier ones.
  virtual void clear() {}

  /// The source is about to be replaced: releases messages of Session::decoder(), and everything
  /// that was opened with Session::node().
  virtual void forget() {}

  /// Draws into the current ImGui window, which has the size of the panel.
  virtual void draw(Session& session) = 0;
  /// A button or field in the panel's title bar, right to left. `draw` only what belongs there.
  virtual void draw_title(Session&) {}
  /// True if draw() shows Session::graph(), which is then sampled.
  [[nodiscard]] virtual bool wants_graph() const { return false; }
  /// True while draw() waits for an answer of the robot, so that its picture is not complete.
  [[nodiscard]] virtual bool waits() const { return false; }
  /// When draw() would look different by itself, CLOCK_MONOTONIC. For ages and rates.
  [[nodiscard]] virtual std::int64_t next_change_ns(const Session&) const { return kNever; }

  /// Takes its properties from a layout. Errors: invalid_config with the place.
  virtual Result<void> load(const Settings&) { return {}; }
  /// The properties that differ from the defaults. load(save()) changes nothing.
  [[nodiscard]] virtual Settings save() const { return {}; }

  /// A channel or field that was dropped on the panel, or sent to it by a menu. False: not for it.
  virtual bool accept(Session&, const std::string& /*channel*/, const std::string& /*field*/) {
    return false;
  }
  /// True if accept() takes single numbers: a plot.
  [[nodiscard]] virtual bool shows_fields() const { return false; }
  /// Text that describes the panel, after its kind in the title bar, e.g. the channel.
  [[nodiscard]] virtual std::string subject() const { return {}; }
  [[nodiscard]] virtual std::size_t memory() const { return 0; }
  /// Removes the oldest part of its data, for the memory budget. False: there is none.
  virtual bool drop_oldest() { return false; }
};

/// A kind of panel.
struct PanelKind {
  std::string_view name;   ///< in layouts: "plot"
  std::string_view title;  ///< on the screen: "Plot"
  std::string_view help;   ///< one sentence for the menu
  std::vector<std::string> settings;
  /// Types of the channels for which a default layout opens this panel. Empty: see
  /// default_layout().
  std::vector<std::string> types;
  bool live_only = false;  ///< needs a running robot
  std::unique_ptr<Panel> (*make)() = nullptr;
};

/// All kinds of panels, in the order of the menu.
[[nodiscard]] std::span<const PanelKind> panel_kinds();
[[nodiscard]] const PanelKind* find_panel_kind(std::string_view name);

/// Payload of ImGui's drag and drop for channels and fields: "channel\0field\0".
inline constexpr const char* kFieldPayload = "hyphos.field";

}  // namespace hyphos::view
