#pragma once

#include "view/core/properties.hpp"
#include "view/panels/theme.hpp"

namespace hyphos::view {

class Frames;

/// Draws a row with the name and an editor of the value. Returns true if the value changed.
/// `settled` becomes true when an edit is complete: one step of undo.
bool edit_property(const Theme& theme, Property& property, const Frames& frames, bool& settled);

}  // namespace hyphos::view
