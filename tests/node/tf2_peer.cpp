#include "tests/node/tf2_peer.hpp"

#include <tf2/buffer_core.h>
#include <tf2/exceptions.h>

namespace hyphos::test {
namespace {

ros::Time ros_time(std::int64_t ns) {
  ros::Time out;
  out.fromNSec(static_cast<std::uint64_t>(ns));
  return out;
}

Tf2Peer::Pose pose_of(const geometry_msgs::TransformStamped& from) {
  const auto& t = from.transform.translation;
  const auto& q = from.transform.rotation;
  return {
      static_cast<std::int64_t>(from.header.stamp.toNSec()), {t.x, t.y, t.z}, {q.x, q.y, q.z, q.w}};
}

template <typename F>
Tf2Peer::Answer answer(F look_up, Tf2Peer::Pose& pose) {
  try {
    pose = pose_of(look_up());
    return Tf2Peer::Answer::found;
  } catch (const tf2::ExtrapolationException&) {
    return Tf2Peer::Answer::extrapolation;
  } catch (const tf2::ConnectivityException&) {
    return Tf2Peer::Answer::disconnected;
  } catch (const tf2::LookupException&) {
    return Tf2Peer::Answer::unknown;
  }
}

}  // namespace

struct Tf2Peer::Impl {
  explicit Impl(double history_s) : buffer(ros::Duration(history_s)) {}
  tf2::BufferCore buffer;
  std::vector<ros::Time> times;
  geometry_msgs::TransformStamped written;
  std::int64_t written_ns = 1'700'000'000'000'000'000;
};

Tf2Peer::Tf2Peer(double history_s) : impl_(std::make_unique<Impl>(history_s)) {}
Tf2Peer::~Tf2Peer() = default;

bool Tf2Peer::set(const std::string& parent, const std::string& child, const Pose& pose,
                  bool is_static) {
  geometry_msgs::TransformStamped message;
  message.header.stamp = ros_time(pose.stamp_ns);
  message.header.frame_id = parent;
  message.child_frame_id = child;
  message.transform.translation.x = pose.translation[0];
  message.transform.translation.y = pose.translation[1];
  message.transform.translation.z = pose.translation[2];
  message.transform.rotation.x = pose.rotation[0];
  message.transform.rotation.y = pose.rotation[1];
  message.transform.rotation.z = pose.rotation[2];
  message.transform.rotation.w = pose.rotation[3];
  return impl_->buffer.setTransform(message, "test", is_static);
}

Tf2Peer::Answer Tf2Peer::get(const std::string& target, const std::string& source,
                             std::int64_t time_ns, Pose& pose) const {
  return answer([&] { return impl_->buffer.lookupTransform(target, source, ros_time(time_ns)); },
                pose);
}

Tf2Peer::Answer Tf2Peer::get(const std::string& target, std::int64_t target_time_ns,
                             const std::string& source, std::int64_t source_time_ns,
                             const std::string& fixed, Pose& pose) const {
  return answer(
      [&] {
        return impl_->buffer.lookupTransform(target, ros_time(target_time_ns), source,
                                             ros_time(source_time_ns), fixed);
      },
      pose);
}

void Tf2Peer::prepare(const std::vector<std::int64_t>& times_ns) {
  impl_->times.clear();
  for (const std::int64_t ns : times_ns) impl_->times.push_back(ros_time(ns));
}

double Tf2Peer::look_up(const std::string& target, const std::string& source, long count) const {
  double sum = 0;
  for (long i = 0; i < count; ++i) {
    const ros::Time& at = impl_->times[static_cast<std::size_t>(i) % impl_->times.size()];
    sum += impl_->buffer.lookupTransform(target, source, at).transform.translation.x;
  }
  return sum;
}

void Tf2Peer::write(std::int64_t period_ns, long count) {
  geometry_msgs::TransformStamped& message = impl_->written;
  message.header.frame_id = "map";
  message.child_frame_id = "base";
  message.transform.rotation.w = 1;
  for (long i = 0; i < count; ++i) {
    message.header.stamp = ros_time(impl_->written_ns += period_ns);
    impl_->buffer.setTransform(message, "test");
  }
}

}  // namespace hyphos::test
