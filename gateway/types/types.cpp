#include "gateway/types/types.hpp"

#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <utility>

#include "gateway/types/ros2_text.hpp"
#include "hyphos/msgs/clock.pb.h"
#include "hyphos/msgs/geometry.pb.h"
#include "hyphos/msgs/log.pb.h"
#include "hyphos/msgs/nav.pb.h"
#include "hyphos/msgs/sensor.pb.h"
#include "hyphos/msgs/std.pb.h"
#include "hyphos/msgs/tf.pb.h"
#include "hyphos/msgs/visualization.pb.h"
#include "hyphos/ros/options.pb.h"

namespace hyphos::gateway {

namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;

constexpr std::string_view kStandard = "hyphos.msgs.";

constexpr std::array<std::string_view, 3> kActionParts{"Goal", "Feedback", "Result"};

struct Package {
  const FileDescriptor* file;
  std::vector<std::string> packages;  ///< ROS packages whose messages the file has
};

std::vector<Package> standard_files() {
  return {{msgs::Header::descriptor()->file(), {"std_msgs", "diagnostic_msgs"}},
          {msgs::Vector3::descriptor()->file(), {"geometry_msgs"}},
          {msgs::LaserScan::descriptor()->file(), {"sensor_msgs"}},
          {msgs::Odometry::descriptor()->file(), {"nav_msgs"}},
          {msgs::TfMessage::descriptor()->file(), {"tf2_msgs"}},
          {msgs::Marker::descriptor()->file(), {"visualization_msgs"}},
          {msgs::Clock::descriptor()->file(), {"rosgraph_msgs"}},
          {msgs::Log::descriptor()->file(), {"rcl_interfaces"}}};
}

/// Maps standard message names that differ from ROS to their ROS names.
std::string name_in_ros(const std::string& name) {
  if (name == "PointCloud") return "PointCloud2";
  if (name == "TfMessage") return "TFMessage";
  return name;
}

std::optional<TypeId> parse_part(std::string_view part) {
  const std::size_t open = part.rfind('(');
  if (open == std::string_view::npos || !part.ends_with(')')) return std::nullopt;
  const std::string_view word = part.substr(open + 1, part.size() - open - 2);
  for (const Encoding encoding : {Encoding::protobuf, Encoding::attached}) {
    if (word == to_string(encoding)) return make_type_id(part.substr(0, open), encoding);
  }
  return std::nullopt;
}

/// The types of "REQ(ENCODING) -> REP(ENCODING)", or the three types of an action. nullopt if the
/// number of types is not `count`.
std::optional<std::vector<TypeId>> parse_call(std::string_view type, std::size_t count) {
  constexpr std::string_view kArrow = " -> ";
  std::vector<TypeId> parts;
  for (bool more = true; more;) {
    const std::size_t arrow = type.find(kArrow);
    more = arrow != std::string_view::npos;
    const auto part = parse_part(type.substr(0, arrow));
    if (!part) return std::nullopt;
    parts.push_back(*part);
    if (more) type.remove_prefix(arrow + kArrow.size());
  }
  if (parts.size() != count) return std::nullopt;
  return parts;
}

template <typename Map>
std::string similar(const Map& known, std::string_view name) {
  const std::string_view bare = name.substr(name.rfind('/') + 1);
  for (const auto& [other, value] : known) {
    if (std::string_view(other).substr(other.rfind('/') + 1) == bare) {
      return ". Did you mean '" + other + "'?";
    }
  }
  return ". Give the folder of its package with --ros";
}

/// The key of a service by the protobuf types of its request and reply.
std::string call_key(std::string_view request, std::string_view reply) {
  return std::string(request).append(" ").append(reply);
}

bool has_only_lists(const Descriptor& type) {
  for (int i = 0; i < type.field_count(); ++i) {
    if (!type.field(i)->is_repeated()) return false;
  }
  return type.field_count() > 0;
}

/// Finds a type by this name, or by the name that the other ROS version gives it. `middle` is the
/// part that ROS 2 puts between package and type.
template <typename Known>
const Known* find_either(const std::map<std::string, Known, std::less<>>& known,
                         std::string_view name, std::string_view middle) {
  auto found = known.find(name);
  const std::size_t slash = name.find('/');
  if (found == known.end() && slash != std::string_view::npos) {
    std::string other = ros1_name(name);
    if (other == name) other.insert(slash, middle);
    found = known.find(other);
  }
  return found == known.end() ? nullptr : &found->second;
}

class QuietErrors final : public DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element,
                const google::protobuf::Message* /*proto*/, ErrorLocation /*place*/,
                const std::string& message) override {
    if (text.empty()) text = file + ": " + element + ": " + message;
  }
  std::string text;
};

}  // namespace

std::string ros1_name(std::string_view name) {
  for (const std::string_view middle : {"/msg/", "/srv/", "/action/"}) {
    const std::size_t at = name.find(middle);
    if (at == std::string_view::npos) continue;
    return std::string(name.substr(0, at)) + "/" + std::string(name.substr(at + middle.size()));
  }
  return std::string(name);
}

std::string ros2_message_name(std::string_view name) {
  std::string made = ros1_name(name);
  if (const std::size_t slash = made.find('/'); slash != std::string::npos) {
    made.insert(slash, "/msg");
  }
  return made;
}

Types::Types() : base_(DescriptorPool::generated_pool()) {
  for (const auto& [file, packages] : standard_files()) {
    for (int i = 0; i < file->message_type_count(); ++i) {
      const std::string& name = file->message_type(i)->name();
      if (name == "ClockCommand") continue;  // ROS has none
      for (const auto& package : packages) {
        standard_[package + "/" + name_in_ros(name)] = std::string(kStandard) + name;
      }
      const bool diagnostic = name.starts_with("Diagnostic") || name == "KeyValue";
      standard_ros_[std::string(kStandard) + name] =
          (diagnostic ? packages.back() : packages.front()) + "/" + name_in_ros(name);
    }
  }
}

Result<std::shared_ptr<Types>> Types::make(std::span<const std::byte> descriptors) {
  std::shared_ptr<Types> types(new Types());
  if (auto added = types->add(descriptors); !added) return added.error();
  return types;
}

Result<std::shared_ptr<Types>> Types::read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in && !in.eof()) return Error{Code::io, "cannot read the file of types", file.string()};
  auto types = make(std::as_bytes(std::span(text)));
  if (!types) {
    Error error = types.error();
    error.where = file.string() + (error.where.empty() ? "" : ": " + error.where);
    return error;
  }
  return types;
}

Result<void> Types::add(std::span<const std::byte> descriptors) {
  FileDescriptorSet set;
  if (descriptors.size() > INT32_MAX ||
      !set.ParseFromArray(descriptors.data(), static_cast<int>(descriptors.size()))) {
    return Error{Code::corrupt,
                 "the bytes are not a serialized FileDescriptorSet. Write them with `hyphos msg "
                 "descriptors`",
                 {}};
  }
  // Adds each file after the files that it imports.
  std::map<std::string, const FileDescriptorProto*> waiting;
  for (const auto& file : set.file()) {
    if (DescriptorPool::generated_pool()->FindFileByName(file.name()) == nullptr) {
      waiting.emplace(file.name(), &file);
    }
  }
  while (!waiting.empty()) {
    const std::size_t before = waiting.size();
    for (auto at = waiting.begin(); at != waiting.end();) {
      const auto& needed = at->second->dependency();
      if (std::any_of(needed.begin(), needed.end(),
                      [&](const std::string& name) { return waiting.contains(name); })) {
        ++at;
        continue;
      }
      QuietErrors errors;
      const FileDescriptor* built = base_.pool.BuildFileCollectingErrors(*at->second, &errors);
      if (built == nullptr) return Error{Code::invalid_config, errors.text, {}};
      base_.index(*built);
      at = waiting.erase(at);
    }
    if (waiting.size() == before) {
      return Error{Code::invalid_config, "proto files import each other in a cycle",
                   waiting.begin()->first};
    }
  }
  base_.complete_texts();
  return {};
}

void Types::Layer::complete_texts() {
  // Reads the texts from the options, because the texts in `messages` grow during this loop.
  const auto text_of = [](const Descriptor& type) {
    const bool ros2 =
        type.file()->options().GetExtension(ros::interface).flavour() == ros::Interface::ROS2;
    return ros2 ? ros2_text(type) : type.options().GetExtension(ros::type).text();
  };
  for (auto& [name, message] : messages) {
    message.info.text = text_of(*message.descriptor);
    if (message.info.text.empty()) continue;
    std::vector<const Descriptor*> found = {message.descriptor};
    for (std::size_t next = 0; next < found.size(); ++next) {
      for (int i = 0; i < found[next]->field_count(); ++i) {
        const Descriptor* const part = found[next]->field(i)->message_type();
        if (part == nullptr || std::find(found.begin(), found.end(), part) != found.end()) continue;
        found.push_back(part);
        message.info.text += "\n" + std::string(80, '=') +
                             "\nMSG: " + part->options().GetExtension(ros::type).name() + "\n" +
                             text_of(*part);
      }
    }
  }
}

void Types::Layer::index(const FileDescriptor& file) {
  const bool ros2 = file.options().GetExtension(ros::interface).flavour() == ros::Interface::ROS2;
  for (int i = 0; i < file.message_type_count(); ++i) {
    const Descriptor& message = *file.message_type(i);
    const auto& option = message.options().GetExtension(ros::type);
    if (option.name().empty()) continue;
    only_ros2 = only_ros2 && ros2;
    messages[option.name()] = {{option.name(), option.md5(), option.type_hash(), option.text()},
                               &message};
  }
  for (int i = 0; i < file.service_count(); ++i) {
    const auto& service = *file.service(i);
    const auto& option = service.options().GetExtension(ros::service);
    if (option.name().empty() || service.method_count() == 0) continue;
    const Descriptor* request = service.method(0)->input_type();
    const Descriptor* reply = service.method(0)->output_type();
    calls[option.name()] = {{option.name(), option.md5(), option.type_hash(),
                             request->options().GetExtension(ros::type).name(),
                             reply->options().GetExtension(ros::type).name()},
                            request,
                            reply};
    std::string& named = call_names[call_key(request->full_name(), reply->full_name())];
    if (named.empty() || option.name() < named) named = option.name();
  }
}

template <typename Look>
auto Types::search(Look look) const -> decltype(look(std::declval<const Layer&>())) {
  do {
    for (const Layer* layer : layers()) {
      if (auto found = look(*layer)) return found;
    }
  } while (learn());
  return nullptr;
}

const Descriptor* Types::find_type(const std::string& type) const {
  return search([&](const Layer& layer) { return layer.pool.FindMessageTypeByName(type); });
}

const Types::Message* Types::find(std::string_view name) const {
  return search([&](const Layer& layer) { return find_either(layer.messages, name, "/msg"); });
}

const Types::Call* Types::find_call(std::string_view name) const {
  return search([&](const Layer& layer) { return find_either(layer.calls, name, "/srv"); });
}

Result<TypeInfo> Types::message(std::string_view name) const {
  if (const Message* found = find(name)) return found->info;
  return Error{
      Code::not_found,
      "no ROS message type is called '" + std::string(name) + "'" + similar(base_.messages, name),
      std::string(name)};
}

Result<ServiceTypeInfo> Types::service(std::string_view name) const {
  if (const Call* found = find_call(name)) return found->info;
  return Error{
      Code::not_found,
      "no ROS service type is called '" + std::string(name) + "'" + similar(base_.calls, name),
      std::string(name)};
}

const Descriptor* Types::standard(std::string_view name) const {
  const auto found = standard_.find(ros1_name(name));
  return found == standard_.end()
             ? nullptr
             : DescriptorPool::generated_pool()->FindMessageTypeByName(found->second);
}

Result<const ChannelCodec*> Types::join(const Descriptor& ros, const Descriptor& channel,
                                        Encoding encoding) {
  const TypeId id = make_type_id(channel.full_name(), encoding);
  const MutexLock lock(mutex_);
  auto& known = codecs_[{&ros, id.name + std::string(to_string(encoding))}];
  if (known == nullptr) {
    const bool attached = encoding == Encoding::attached;
    auto shape = shapes_.join(ros, channel, attached);
    if (!shape) return shape.error();
    known.reset(
        new ChannelCodec{id, Converter(**shape, attached), !attached && has_only_lists(channel)});
  }
  return known.get();
}

Result<const ChannelCodec*> Types::codec(std::string_view name, const TypeId& channel_type) {
  const Message* const type = find(name);
  if (type == nullptr) return message(name).error();
  if (channel_type == raw_type(ros2_message_name(type->info.name))) return raw_codec(name);
  const Descriptor* const channel = find_type(channel_type.name);
  const bool known =
      channel_type.encoding == Encoding::protobuf || channel_type.encoding == Encoding::attached;
  if (channel == nullptr || !known) {
    return Error{Code::unsupported,
                 "the channel carries " + channel_type.name + " (" +
                     std::string(to_string(channel_type.encoding)) + "), not " + type->info.name,
                 channel_type.name};
  }
  return join(*type->descriptor, *channel, channel_type.encoding);
}

Result<const ChannelCodec*> Types::default_codec(std::string_view name) {
  const Message* const type = find(name);
  if (type == nullptr) return message(name).error();
  if (const Descriptor* const known = standard(type->info.name)) {
    for (const Encoding encoding : {Encoding::protobuf, Encoding::attached}) {
      if (auto found = join(*type->descriptor, *known, encoding)) return found;
    }
  }
  return join(*type->descriptor, *type->descriptor, Encoding::protobuf);
}

Result<const ChannelCodec*> Types::raw_codec(std::string_view name) {
  const Message* const type = find(name);
  if (type == nullptr) return message(name).error();
  const std::string in_ros2 = ros2_message_name(type->info.name);
  auto by_way = default_codec(in_ros2);
  if (!by_way) return by_way;
  auto others = codec(name, (*by_way)->id);
  if (!others) return others;
  const MutexLock lock(mutex_);
  auto& known = raw_codecs_[type->descriptor];
  if (known == nullptr) {
    known.reset(
        new ChannelCodec{raw_type(in_ros2), (*others)->converter, false, &(*by_way)->converter});
  }
  return known.get();
}

Result<ServiceCodec> Types::service_codec(std::string_view name, std::string_view call_type) {
  const Call* const type = find_call(name);
  if (type == nullptr) return service(name).error();
  TypeId request = make_type_id(type->request->full_name(), Encoding::protobuf);
  TypeId reply = make_type_id(type->reply->full_name(), Encoding::protobuf);
  if (!call_type.empty()) {
    const auto parts = parse_call(call_type, 2);
    if (!parts) {
      return Error{Code::unsupported,
                   "the service uses " + std::string(call_type) + ", not " + type->info.name,
                   std::string(name)};
    }
    request = (*parts)[0];
    reply = (*parts)[1];
  }
  const Descriptor* const request_type = find_type(request.name);
  const Descriptor* const reply_type = find_type(reply.name);
  if (request_type == nullptr || reply_type == nullptr) {
    return Error{
        Code::not_found,
        "unknown message types in " + std::string(call_type) + ". Give their .proto folder with -I",
        std::string(name)};
  }
  auto ask = join(*type->request, *request_type, request.encoding);
  if (!ask) return ask.error();
  auto answer = join(*type->reply, *reply_type, reply.encoding);
  if (!answer) return answer.error();
  return ServiceCodec{&(*ask)->converter, &(*answer)->converter, request, reply};
}

const Types::Message* Types::find_action_part(std::string_view name, std::string_view part) const {
  const std::string ros1 = ros1_name(name);
  const std::size_t slash = ros1.find('/');
  if (slash == std::string::npos) return nullptr;
  const std::string ros2 =
      ros1.substr(0, slash) + "/action" + ros1.substr(slash) + "_" + std::string(part);
  const std::string plain = ros1 + std::string(part);
  const bool wants_ros2 = name.size() != ros1.size();
  return search([&](const Layer& layer) -> const Message* {
    for (const std::string& one : {wants_ros2 ? ros2 : plain, wants_ros2 ? plain : ros2}) {
      const auto found = layer.messages.find(one);
      if (found != layer.messages.end()) return &found->second;
    }
    return nullptr;
  });
}

Result<ActionTypeInfo> Types::action(std::string_view name) const {
  std::array<std::string, 3> parts;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const Message* const type = find_action_part(name, kActionParts[at]);
    if (type == nullptr) {
      return Error{Code::not_found,
                   "no ROS action is called '" + std::string(name) +
                       "'. Give the folder of its package with --ros",
                   std::string(name)};
    }
    parts[at] = type->info.name;
  }
  return ActionTypeInfo{std::string(name), parts[0], parts[1], parts[2]};
}

Result<ActionCodec> Types::action_codec(std::string_view name, std::string_view call_type) {
  const auto known = action(name);
  if (!known) return known.error();
  std::vector<TypeId> ids;
  if (!call_type.empty()) {
    const auto parts = parse_call(call_type, kActionParts.size());
    if (!parts) {
      return Error{Code::unsupported,
                   "the action uses " + std::string(call_type) + ", not " + std::string(name),
                   std::string(name)};
    }
    ids = *parts;
  }
  std::array<const ChannelCodec*, kActionParts.size()> codecs{};
  for (std::size_t at = 0; at < codecs.size(); ++at) {
    const Descriptor& type = *find_action_part(name, kActionParts[at])->descriptor;
    auto found = codec(type.options().GetExtension(ros::type).name(),
                       ids.empty() ? make_type_id(type.full_name(), Encoding::protobuf) : ids[at]);
    if (!found) return found.error();
    codecs[at] = *found;
  }
  return ActionCodec{codecs[0], codecs[1], codecs[2]};
}

std::string Types::ros_action_name(std::string_view call_type) const {
  const auto parts = parse_call(call_type, 3);
  if (!parts) return {};
  const Descriptor* const goal = find_type((*parts)[0].name);
  if (goal == nullptr) return {};
  const std::string& name = goal->options().GetExtension(ros::type).name();
  for (const std::string_view end : {"_Goal", "Goal"}) {
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  }
  return {};
}

std::string Types::ros_name(std::string_view channel_type, bool ros2) const {
  std::string name;
  if (const auto raw = raw_name(channel_type); !raw.empty()) {
    name = raw;
  } else if (const auto found = standard_ros_.find(channel_type); found != standard_ros_.end()) {
    name = found->second;
  } else if (const Descriptor* type = find_type(std::string(channel_type))) {
    name = type->options().GetExtension(ros::type).name();
  }
  const std::string plain = ros1_name(name);
  if (name.empty() || !ros2) return find(plain) != nullptr ? plain : name;
  return ros2_message_name(name);
}

std::string Types::ros_service_name(std::string_view call_type) const {
  const auto parts = parse_call(call_type, 2);
  if (!parts) return {};
  const std::string key = call_key((*parts)[0].name, (*parts)[1].name);
  const std::string* const found = search([&](const Layer& layer) -> const std::string* {
    const auto known = layer.call_names.find(key);
    return known == layer.call_names.end() ? nullptr : &known->second;
  });
  return found == nullptr ? std::string() : *found;
}

}  // namespace hyphos::gateway
