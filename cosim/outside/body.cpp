#include "cosim/outside/body.hpp"

#include <unistd.h>

#include "cosim/nodes/motion_messages.hpp"
#include "hyphos/inspect.hpp"

namespace hyphos::cosim {
namespace {

constexpr const char* kOurNode = "body";

}  // namespace

Result<std::unique_ptr<Body>> Body::open(const BodyNames& names, OnCommand on_command) {
  RuntimeOptions how;
  how.process = "body";
  how.domain = names.domain;
  how.threads = 2;
  auto process = open_in_step(std::move(how), kOurNode);
  if (!process) return process.error();
  std::unique_ptr<Body> body(new Body(names, std::move(*process)));
  if (auto opened = body->open_channels(std::move(on_command)); !opened) return opened.error();
  body->runtime_.ready();
  return body;
}

Result<void> Body::open_channels(OnCommand on_command) {
  frame_ = outer("base");
  auto pose = node_.raw_publisher(outer(names_.pose_channel), odometry_type());
  if (!pose) return pose.error();
  pose_ = std::move(*pose);
  if (names_.transforms) {
    auto frames = node_.raw_publisher(outer("tf"), transforms_type());
    if (!frames) return frames.error();
    tf_ = std::move(*frames);
  }
  for (const SensorChannel& sensor : names_.sensors) {
    auto opened = node_.raw_publisher(outer(sensor.name), sensor.type, publisher_of(sensor));
    if (!opened) return opened.error();
    sensors_.push_back(std::move(*opened));
  }
  auto command = node_.raw_subscribe(
      outer(names_.command_channel), twist_type(), where_it_is_published(),
      [this, on_command = std::move(on_command)](const Message<RawMessage>& message) {
        const auto motion = decode_twist(message->payload.bytes());
        if (motion) {
          on_command(*motion);
        } else {
          unreadable_.fetch_add(1);
        }
      });
  return command ? success() : Result<void>(command.error());
}

void Body::set_time(Time now) {
  if (now > time_.now()) time_.advance(now - time_.now());
}

void Body::publish_pose(const Pose& pose, Time now) {
  pose_.publish(Buffer::adopt(encode_odometry(pose, now, frame_)));
}

bool Body::publish_frame(const Pose& pose, Time now) {
  // A stamp of 0 is no time of a transform.
  if (!tf_ || now.ns <= 0 || tf_->listeners() == 0) return false;
  tf_->publish(Buffer::adopt(encode_frame(pose, now, frame_)));
  return true;
}

std::string Body::outer(const std::string& channel) const {
  return names_.prefix.empty() ? channel : names_.prefix + "/" + channel;
}

std::string Body::inner(const std::string& channel) const {
  const std::string head = names_.prefix + "/";
  return !names_.prefix.empty() && channel.starts_with(head) ? channel.substr(head.size())
                                                             : channel;
}

Result<std::map<std::string, TypeId>> Body::opened_by_programs() const {
  auto processes = inspect(names_.domain);
  if (!processes) return processes.error();
  std::map<std::string, TypeId> channels;
  for (const ProcessInfo& process : *processes) {
    if (process.pid == ::getpid()) continue;
    for (const EndpointInfo& end : process.endpoints) {
      channels.emplace(end.channel, TypeId{end.type_name, end.encoding, end.type_hash});
    }
  }
  return channels;
}

}  // namespace hyphos::cosim
