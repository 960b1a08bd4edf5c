#pragma once

#include <google/protobuf/descriptor.h>

#include <string>

namespace hyphos::gateway {

/// The definition of a message of ROS 2, made from its descriptor: as its author wrote it but for
/// comments and the order of constants, which come first.
[[nodiscard]] std::string ros2_text(const google::protobuf::Descriptor& message);

}  // namespace hyphos::gateway
