#pragma once

#include "view/panels/panel.hpp"

/// All kinds of panels. Each is defined in the file of its name.
namespace hyphos::view::panels {

PanelKind scene();
PanelKind displays();
PanelKind channels();
PanelKind image();
PanelKind plot();
PanelKind raw();
PanelKind log();
PanelKind graph();
PanelKind latency();
PanelKind transforms();
PanelKind parameters();
PanelKind teleop();
PanelKind services();
PanelKind actions();

}  // namespace hyphos::view::panels
