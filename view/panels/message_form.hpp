#pragma once

#include <google/protobuf/message.h>

#include "view/panels/theme.hpp"

namespace hyphos::view {

/// Draws an editor for each field of a message of any type: numbers, texts, enums, nested and
/// repeated messages. At most 256 elements of a list are shown.
void edit_message(const Theme& theme, google::protobuf::Message& message);

}  // namespace hyphos::view
