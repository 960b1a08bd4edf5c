#include <vector>

#include "view/panels/list.hpp"

namespace hyphos::view {

std::span<const PanelKind> panel_kinds() {
  static const std::vector<PanelKind> kinds = {
      panels::scene(),    panels::displays(),   panels::channels(),   panels::image(),
      panels::plot(),     panels::raw(),        panels::log(),        panels::graph(),
      panels::latency(),  panels::transforms(), panels::parameters(), panels::teleop(),
      panels::services(), panels::actions(),
  };
  return kinds;
}

const PanelKind* find_panel_kind(std::string_view name) {
  for (const PanelKind& kind : panel_kinds()) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace hyphos::view
