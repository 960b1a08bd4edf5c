#pragma once

#include <google/protobuf/descriptor.h>

#include <string>

namespace hyphos::gateway {

/// The definition of a ROS 2 message, made from its descriptor. It equals the author's text, except
/// that comments are missing and constants come first.
[[nodiscard]] std::string ros2_text(const google::protobuf::Descriptor& message);

}  // namespace hyphos::gateway
