#pragma once

#include <google/protobuf/descriptor.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/convert/converter.hpp"
#include "gateway/types/channel_codec.hpp"
#include "gateway/types/type_info.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// What a message of a call is converted with.
struct ServiceCodec {
  const Converter* request = nullptr;
  const Converter* reply = nullptr;
  TypeId request_id;
  TypeId reply_id;
};

/// The same of an action.
struct ActionCodec {
  const ChannelCodec* goal = nullptr;
  const ChannelCodec* feedback = nullptr;
  const ChannelCodec* result = nullptr;
};

/// The types that a gateway can speak: what `hyphos msg import` made of definitions of ROS, and the
/// standard messages. Thread-safe.
class Types {
 public:
  /// `descriptors`: a serialized FileDescriptorSet. Errors: corrupt, invalid_config.
  static Result<std::shared_ptr<Types>> make(std::span<const std::byte> descriptors);
  static Result<std::shared_ptr<Types>> read(const std::filesystem::path& file);

  /// "sensor_msgs/LaserScan", "sensor_msgs/msg/LaserScan"; the one may be found under the other's
  /// name where only one is there. Error: not_found, with what is similar.
  [[nodiscard]] Result<TypeInfo> message(std::string_view name) const;
  [[nodiscard]] Result<ServiceTypeInfo> service(std::string_view name) const;
  [[nodiscard]] Result<ActionTypeInfo> action(std::string_view name) const;

  /// The carrier of a type of ROS in a channel that carries `channel_type`. Errors: not_found,
  /// unsupported (the channel carries something else).
  Result<const ChannelCodec*> codec(std::string_view name, const TypeId& channel_type);
  /// In a channel that nobody has opened yet: the standard message if there is one that means the
  /// same, else the type itself.
  Result<const ChannelCodec*> default_codec(std::string_view name);
  /// In a channel that carries CDR as it is. Errors: as default_carrier().
  Result<const ChannelCodec*> raw_codec(std::string_view name);
  /// The carriers of a service whose type in the graph is `call_type` ("REQ(…) -> REP(…)"); empty:
  /// none is there yet.
  Result<ServiceCodec> service_codec(std::string_view name, std::string_view call_type);
  /// The carriers of an action whose type in the graph is `call_type` ("GOAL(…) -> FEEDBACK(…) ->
  /// RESULT(…)"); empty: none is there yet. Errors: as service_carrier().
  Result<ActionCodec> action_codec(std::string_view name, std::string_view call_type);

  /// What a channel's type is called in ROS; empty if ROS has no such type. `ros2`: by its names.
  [[nodiscard]] std::string ros_name(std::string_view channel_type, bool ros2) const;
  /// The same for services, of "REQ(…) -> REP(…)".
  [[nodiscard]] std::string ros_service_name(std::string_view call_type) const;
  /// The same for actions, of "GOAL(…) -> FEEDBACK(…) -> RESULT(…)".
  [[nodiscard]] std::string ros_action_name(std::string_view call_type) const;
  /// Names of all messages, services and actions, in order. What services and actions are made of
  /// is left out, but for the messages that ROS 1 makes of an action.
  [[nodiscard]] std::vector<std::string> interfaces() const;
  /// True if names are those of ROS 2: only such types are known.
  [[nodiscard]] bool only_ros2() const { return only_ros2_; }

 private:
  struct Message {
    TypeInfo info;
    const google::protobuf::Descriptor* descriptor = nullptr;
  };
  struct Call {
    ServiceTypeInfo info;
    const google::protobuf::Descriptor* request = nullptr;
    const google::protobuf::Descriptor* reply = nullptr;
  };

  Types();
  Result<void> add(std::span<const std::byte> descriptors);
  void index(const google::protobuf::FileDescriptor& file);
  /// The texts of types, each with those of the messages it is made of.
  void complete_texts();
  [[nodiscard]] const Message* find(std::string_view name) const;
  [[nodiscard]] const Call* find_call(std::string_view name) const;
  /// One of the three messages of an action: `part` is "Goal", "Feedback" or "Result".
  [[nodiscard]] const Message* find_action_part(std::string_view name, std::string_view part) const;
  /// Of the standard messages: hyphos.msgs.LaserScan for sensor_msgs/LaserScan.
  [[nodiscard]] const google::protobuf::Descriptor* standard(std::string_view name) const;
  Result<const ChannelCodec*> join(const google::protobuf::Descriptor& ros,
                                   const google::protobuf::Descriptor& channel, Encoding encoding);

  google::protobuf::DescriptorPool pool_;
  std::map<std::string, Message, std::less<>> messages_;  // by name in ROS
  std::map<std::string, Call, std::less<>> calls_;
  std::map<std::string, std::string, std::less<>> standard_;      // ROS 1's name → hyphos.msgs's
  std::map<std::string, std::string, std::less<>> standard_ros_;  // and back
  bool only_ros2_ = true;

  std::mutex mutex_;  // guards what follows
  Shapes shapes_;
  std::map<std::pair<const google::protobuf::Descriptor*, std::string>,
           std::unique_ptr<ChannelCodec>>
      codecs_;
  std::map<const google::protobuf::Descriptor*, std::unique_ptr<ChannelCodec>> raw_codecs_;
};

/// "sensor_msgs/msg/LaserScan" → "sensor_msgs/LaserScan"; others stay.
[[nodiscard]] std::string ros1_name(std::string_view name);
/// The same of messages, and back.
[[nodiscard]] std::string ros2_message_name(std::string_view name);

}  // namespace hyphos::gateway
