#pragma once

#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/text_format.h>

#include <memory>
#include <string>

#include "gateway/types/types.hpp"
#include "hyphos/ros/options.pb.h"

namespace hyphos::gateway {

/// The sample types. `made/All` and `made/msg/All` have every kind of field, for ROS 1 and ROS 2.
/// `made/Many` has only a list. There are also a service `made/Add` and an action `made/Count`.
inline std::shared_ptr<Types> sample_types() {
  google::protobuf::FileDescriptorSet set;
  for (const bool ros2 : {false, true}) {
    const std::string package = ros2 ? "ros2.made.msg" : "ros1.made.msg";
    const std::string prefix = ros2 ? "made/msg/" : "made/";
    // Name, protobuf type, repetition, and the ROS type and count.
    std::string fields;
    int number = 0;
    const auto add = [&](const std::string& name, const std::string& type, bool repeated,
                         const std::string& option) {
      fields += "field { name: '" + name + "' number: " + std::to_string(++number) +
                " label: " + (repeated ? "LABEL_REPEATED" : "LABEL_OPTIONAL") + " " + type +
                " options { [hyphos.ros.field] { " + option + " } } }\n";
    };
    add("flag", "type: TYPE_BOOL", false, "type: BOOL");
    add("small", "type: TYPE_INT32", false, "type: INT8");
    add("wide", "type: TYPE_UINT64", false, "type: UINT64");
    add("real", "type: TYPE_DOUBLE", false, "type: FLOAT64");
    add("text", "type: TYPE_STRING", false, "type: STRING");
    add("stamp_ns", "type: TYPE_INT64", false, "type: TIME");
    add("bytes", "type: TYPE_BYTES", false, "type: UINT8 count: ANY");
    add("fixed", "type: TYPE_BYTES", false, "type: INT8 count: FIXED size: 3");
    add("floats", "type: TYPE_FLOAT", true, "type: FLOAT32 count: ANY");
    add("matrix", "type: TYPE_DOUBLE", true, "type: FLOAT64 count: FIXED size: 2");
    add("numbers", "type: TYPE_INT32", true, "type: INT16 count: ANY");
    add("texts", "type: TYPE_STRING", true, "type: STRING count: ANY");
    add("inner", "type: TYPE_MESSAGE type_name: '." + package + ".Part'", false, "type: MESSAGE");
    add("parts", "type: TYPE_MESSAGE type_name: '." + package + ".Part'", true,
        "type: MESSAGE count: ANY");
    add("nothing", "type: TYPE_MESSAGE type_name: '." + package + ".Nothing'", true,
        "type: MESSAGE count: ANY");
    if (ros2) {
      add("few", "type: TYPE_UINT32", true, "type: UINT32 count: AT_MOST size: 2");
      add("signs", "type: TYPE_STRING", false, "type: WSTRING");
    }
    const auto text = [&](const std::string& definition) {
      return ros2 ? "" : " text: '" + definition + "'";  // ROS 2 types have no text.
    };
    std::string action;
    for (const std::string part : {"Goal", "Feedback", "Result"}) {
      action += "message_type { name: 'Count" + part +
                "' field { name: 'x' number: 1 label: LABEL_OPTIONAL type: TYPE_INT64 options { " +
                "[hyphos.ros.field] { type: INT64 } } } options { [hyphos.ros.type] { name: '" +
                (ros2 ? "made/action/Count_" : "made/Count") + part + "'" + text("int64 x\\n") +
                " } } }\n";
    }
    const std::string file =
        "name: '" + package + ".proto' syntax: 'proto3' package: '" + package +
        "' dependency: 'hyphos/ros/options.proto' options { [hyphos.ros.interface] { flavour: " +
        (ros2 ? "ROS2" : "ROS1") + " } }\n" + "message_type { name: 'Nothing' options { " +
        "[hyphos.ros.type] { name: '" + prefix + "Nothing' } } }\n" +
        "message_type { name: 'Part' field { name: 'x' number: 1 label: LABEL_OPTIONAL type: " +
        "TYPE_INT64 options { [hyphos.ros.field] { type: INT64 } } } options { " +
        "[hyphos.ros.type] { name: '" + prefix + "Part'" + text("int64 x\\n") + " } } }\n" +
        "message_type { name: 'Many' field { name: 'parts' number: 1 label: LABEL_REPEATED type: " +
        "TYPE_MESSAGE type_name: '." + package + ".Part' options { [hyphos.ros.field] { " +
        "type: MESSAGE count: ANY } } } options { [hyphos.ros.type] { name: '" + prefix + "Many'" +
        text("Part[] parts\\n") + " } } }\n" + "message_type { name: 'All' " + fields +
        " options { [hyphos.ros.type] { name: '" + prefix + "All' md5: '1'" +
        text("Part inner\\n") + " } } }\n" + action +
        "service { name: 'Add' method { name: 'Call' " + "input_type: '." + package +
        ".Part' output_type: '." + package + ".Part' } options { " +
        "[hyphos.ros.service] { name: '" + (ros2 ? "made/srv/" : "made/") + "Add' } } }\n";
    if (!google::protobuf::TextFormat::ParseFromString(file, set.add_file())) return nullptr;
  }
  const std::string bytes = set.SerializeAsString();
  return Types::make(std::as_bytes(std::span(bytes))).or_throw();
}

}  // namespace hyphos::gateway
