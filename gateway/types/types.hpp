#pragma once

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "gateway/convert/converter.hpp"
#include "gateway/types/channel_codec.hpp"
#include "gateway/types/type_info.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// The converters and types for the messages of a service.
struct ServiceCodec {
  const Converter* request = nullptr;
  const Converter* reply = nullptr;
  TypeId request_id;
  TypeId reply_id;
};

/// The codecs for the messages of an action.
struct ActionCodec {
  const ChannelCodec* goal = nullptr;
  const ChannelCodec* feedback = nullptr;
  const ChannelCodec* result = nullptr;
};

/// The types that a gateway knows: ROS definitions that `hyphos msg import` converted, and the
/// standard messages. Thread-safe.
///
/// The types are in layers. A layer does not change, and lives as long as this object. Each search
/// for an unknown name first adds a layer with the new types of `announced`.
class Types {
 public:
  /// `descriptors` is a serialized FileDescriptorSet. Errors: corrupt, invalid_config.
  static Result<std::shared_ptr<Types>> make(std::span<const std::byte> descriptors);
  static Result<std::shared_ptr<Types>> read(const std::filesystem::path& file);

  /// Sets the source of further types: serialized FileDescriptorSets, which a search for an unknown
  /// name reads. Files that are known already, are damaged or lack an import are left out.
  /// `version` gives another number when there may be further types. Without a change, a search for
  /// an unknown name does not read the source again.
  void set_announced(std::function<std::vector<std::string>()> announced,
                     std::function<std::uint64_t()> version) HYPHOS_EXCLUDES(layers_mutex_);

  /// Finds "sensor_msgs/LaserScan" or "sensor_msgs/msg/LaserScan". If only one ROS version has the
  /// type, either name finds it. Error: not_found, with similar names.
  [[nodiscard]] Result<TypeInfo> message(std::string_view name) const;
  [[nodiscard]] Result<ServiceTypeInfo> service(std::string_view name) const;
  [[nodiscard]] Result<ActionTypeInfo> action(std::string_view name) const;

  /// The codec of a ROS type for a channel of type `channel_type`. Errors: not_found, unsupported
  /// (the channel carries another type).
  Result<const ChannelCodec*> codec(std::string_view name, const TypeId& channel_type);
  /// For a channel without endpoints: the codec to the equivalent standard message, or else to the
  /// type itself.
  Result<const ChannelCodec*> default_codec(std::string_view name);
  /// For a raw channel, which carries CDR unchanged. Errors: as default_codec().
  Result<const ChannelCodec*> raw_codec(std::string_view name);
  /// The codecs of a service whose type in the graph is `call_type` ("REQ(…) -> REP(…)"). Empty:
  /// the service has no endpoint yet.
  Result<ServiceCodec> service_codec(std::string_view name, std::string_view call_type);
  /// The codecs of an action whose type in the graph is `call_type` ("GOAL(…) -> FEEDBACK(…) ->
  /// RESULT(…)"). Empty: the action has no endpoint yet. Errors: as service_codec().
  Result<ActionCodec> action_codec(std::string_view name, std::string_view call_type);

  /// The ROS name of a channel's type. Empty if ROS has no such type. `ros2`: use ROS 2 names.
  [[nodiscard]] std::string ros_name(std::string_view channel_type, bool ros2) const;
  /// The same for services, from "REQ(…) -> REP(…)".
  [[nodiscard]] std::string ros_service_name(std::string_view call_type) const;
  /// The same for actions, from "GOAL(…) -> FEEDBACK(…) -> RESULT(…)".
  [[nodiscard]] std::string ros_action_name(std::string_view call_type) const;
  /// The .proto file of a protobuf type and its imports, imports first, as a serialized
  /// FileDescriptorSet. The files of Hyphos and of protobuf itself are left out. Empty: no such
  /// type.
  [[nodiscard]] std::string definition(std::string_view type) const;
  /// Names of all messages, services and actions, sorted. The parts of services and actions are
  /// left out, except for the messages that ROS 1 generates from an action.
  [[nodiscard]] std::vector<std::string> interfaces() const;
  /// True if only ROS 2 types were known at the start, so that names have the ROS 2 form.
  [[nodiscard]] bool only_ros2() const { return base_.only_ros2; }

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

  struct Layer {
    explicit Layer(const google::protobuf::DescriptorPool* below) : pool(below) {}
    void index(const google::protobuf::FileDescriptor& file);
    /// Completes the text of each type with the texts of the messages that it contains.
    void complete_texts();

    google::protobuf::DescriptorPool pool;  ///< finds the types of the layers below as well
    std::map<std::string, Message, std::less<>> messages;  ///< by ROS name
    std::map<std::string, Call, std::less<>> calls;
    std::map<std::string, std::string> call_names;  ///< ROS name by the types of both messages
    bool only_ros2 = true;
  };

  Types();
  Result<void> add(std::span<const std::byte> descriptors);
  /// Adds a layer with the new announced types. False: there are none.
  bool learn() const HYPHOS_EXCLUDES(layers_mutex_);
  /// The new files of a set that have all their imports, as a layer. Null: there are none.
  [[nodiscard]] std::unique_ptr<Layer> layer_of(const std::string& descriptors) const
      HYPHOS_REQUIRES(layers_mutex_);
  /// The layers, the newest first.
  [[nodiscard]] std::vector<const Layer*> layers() const HYPHOS_EXCLUDES(layers_mutex_);
  /// The first pointer that `look` finds in a layer, after learning if that is necessary.
  template <typename Look>
  auto search(Look look) const -> decltype(look(std::declval<const Layer&>()));
  [[nodiscard]] const google::protobuf::Descriptor* find_type(const std::string& type) const;
  [[nodiscard]] const Message* find(std::string_view name) const;
  [[nodiscard]] const Call* find_call(std::string_view name) const;
  /// One of the three messages of an action. `part` is "Goal", "Feedback" or "Result".
  [[nodiscard]] const Message* find_action_part(std::string_view name, std::string_view part) const;
  /// The standard message of a ROS type: hyphos.msgs.LaserScan for sensor_msgs/LaserScan.
  [[nodiscard]] const google::protobuf::Descriptor* standard(std::string_view name) const;
  Result<const ChannelCodec*> join(const google::protobuf::Descriptor& ros,
                                   const google::protobuf::Descriptor& channel, Encoding encoding);

  Layer base_;
  std::map<std::string, std::string, std::less<>> standard_;  // name in ROS 1 → name in hyphos.msgs
  std::map<std::string, std::string, std::less<>> standard_ros_;  // the inverse

  mutable Mutex layers_mutex_;
  mutable std::vector<std::unique_ptr<const Layer>> learned_ HYPHOS_GUARDED_BY(layers_mutex_);
  mutable std::set<std::string> seen_ HYPHOS_GUARDED_BY(layers_mutex_);  // announced sets
  /// Files of this program that are in a layer.
  mutable std::set<const google::protobuf::FileDescriptor*> compiled_
      HYPHOS_GUARDED_BY(layers_mutex_);
  std::function<std::vector<std::string>()> announced_ HYPHOS_GUARDED_BY(layers_mutex_);
  std::function<std::uint64_t()> version_ HYPHOS_GUARDED_BY(layers_mutex_);
  mutable std::optional<std::uint64_t> read_ HYPHOS_GUARDED_BY(layers_mutex_);  // its version

  Mutex mutex_;
  Shapes shapes_ HYPHOS_GUARDED_BY(mutex_);
  std::map<std::pair<const google::protobuf::Descriptor*, std::string>,
           std::unique_ptr<ChannelCodec>>
      codecs_ HYPHOS_GUARDED_BY(mutex_);
  std::map<const google::protobuf::Descriptor*, std::unique_ptr<ChannelCodec>> raw_codecs_
      HYPHOS_GUARDED_BY(mutex_);
};

/// "sensor_msgs/msg/LaserScan" → "sensor_msgs/LaserScan". Other names are returned unchanged.
[[nodiscard]] std::string ros1_name(std::string_view name);
/// The inverse, for messages only.
[[nodiscard]] std::string ros2_message_name(std::string_view name);

}  // namespace hyphos::gateway
