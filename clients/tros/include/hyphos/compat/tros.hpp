#pragma once
/// The functions of the HyperGraph ROS paper (`tros`) over the public interface of Hyphos, so that
/// its programs compile unchanged. New programs use hyphos/hyphos.hpp. Needs Eigen and yaml-cpp, as
/// the paper's own headers do. docs/how-to/tros.md lists the differences.

#include <yaml-cpp/yaml.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <any>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "hyphos/hyphos.hpp"
#include "hyphos/plan.hpp"

namespace tros::tros_base {
using hyphos::Scope;

enum class GraphRunModel { wait_last_finish, parallel_invoke };
inline constexpr GraphRunModel kWaitLastFinish = GraphRunModel::wait_last_finish;
inline constexpr GraphRunModel kParallelInvoke = GraphRunModel::parallel_invoke;

/// The base of a type for ToAny() that protobuf has not generated.
struct NetworkData {
  virtual ~NetworkData() = default;
  virtual bool SerializeToString(std::string* output) = 0;
  virtual bool ParseFromString(const std::string& data) = 0;
};

namespace detail {

/// A NetworkData on a channel.
template <typename T>
struct Boxed {
  std::shared_ptr<T> value;
  mutable std::string bytes = {};
  std::size_t serialized_size() const {
    return value->SerializeToString(&bytes) ? bytes.size() : 0;
  }
  void serialize(std::span<std::byte> out) const {
    std::memcpy(out.data(), bytes.data(), out.size());
  }
  static bool parse(std::span<const std::byte> in, Boxed& out) {
    out.value = std::make_shared<T>();
    return out.value->ParseFromString({reinterpret_cast<const char*>(in.data()), in.size()});
  }
};

/// The message that carries a T, and the conversions.
template <typename T>
struct Carrier {
  using Type = T;
  static T to(const T& data) { return data; }
  static const T& from(const hyphos::Message<T>& message) { return *message; }
};
template <typename T>
struct Carrier<std::shared_ptr<T>> {
  using Type = T;
  static std::shared_ptr<const T> to(const std::shared_ptr<T>& data) { return data; }
  static std::shared_ptr<T> from(const hyphos::Message<T>& message) {
    auto kept = std::make_shared<hyphos::Message<T>>(message);
    return {kept, const_cast<T*>(kept->get())};  // the paper's callbacks take a T that is not const
  }
};
template <std::derived_from<NetworkData> T>
struct Carrier<std::shared_ptr<T>> {
  using Type = Boxed<T>;
  static Type to(const std::shared_ptr<T>& data) { return {data}; }
  static std::shared_ptr<T> from(const hyphos::Message<Type>& message) { return message->value; }
};

/// The process that all functions share. Without TROSInit(), the first use opens it, and no message
/// leaves it. All members are guarded by `mutex`.
struct Process {
  std::mutex mutex;
  std::optional<hyphos::Node> node;
  std::map<std::pair<std::string, Scope>, std::any> publishers;
  std::vector<hyphos::Subscription> subscriptions;
  std::map<std::string, bool> closed;              // also of channels that have no endpoint yet
  std::shared_ptr<const hyphos::ParamValue> tree;  // of `params`
  YAML::Node params;
  std::map<std::string, std::uint64_t> frame_stamps;
  std::uint64_t base_us = 0;  // 0: relative time is real time
  std::uint64_t real_at_base_us = 0;

  const hyphos::Node& open(hyphos::RuntimeOptions options = {.offline = true}) {
    if (node) return *node;
    node = hyphos::Node::open("tros", std::move(options)).or_throw();
    node->runtime().ready();
    return *node;
  }
  void apply_closed(const std::string& channel) {
    const auto one = closed.find(channel);  // an error of the call: no endpoint yet
    if (one == closed.end()) return;
    (void)open().runtime().set_channel_open(channel, !one->second, hyphos::Where::inside);
  }
  void end() {
    const std::lock_guard lock(mutex);
    if (node) node->close();
  }
};
inline Process process;
inline hyphos::TransformTree frames;
/// The paper's graph keeps every message. These queues are long, bounded, and count each drop.
inline constexpr hyphos::Policy kLong{.overflow = hyphos::Overflow::drop_newest, .depth = 10'000};

template <typename T>
void publish(const std::string& channel, const T& data, Scope scope) {
  using Type = typename Carrier<T>::Type;
  hyphos::Publisher<Type> publisher;
  {
    const std::lock_guard lock(process.mutex);
    std::any& known = process.publishers[{channel, scope}];
    if (!known.has_value()) {
      known = process.open().publisher<Type>(channel, {.scope = scope, .policy = kLong});
      process.apply_closed(channel);
    }
    publisher = std::any_cast<hyphos::Publisher<Type>>(known);  // throws for another type
  }
  publisher.publish(Carrier<T>::to(data));
}

template <typename T, typename F>
void subscribe(const std::string& channel, GraphRunModel model, F callback, Scope scope) {
  using Type = typename Carrier<T>::Type;
  const hyphos::SubscriptionOptions options{
      .mode = model == kWaitLastFinish ? hyphos::serial : hyphos::concurrent,
      .scope = scope,
      .policy = kLong};
  const std::lock_guard lock(process.mutex);
  process.subscriptions.push_back(process.open().subscribe<Type>(
      channel, options, [callback = std::move(callback)](const hyphos::Message<Type>& message) {
        callback(Carrier<T>::from(message));
      }));
  process.apply_closed(channel);
}

}  // namespace detail

/// Within this process: any type that can be copied.
template <typename T>
void ToGraph(const std::string& channel, const T& data) {
  detail::publish(channel, data, Scope::local);
}
template <typename T, typename F>
void FromGraph(const std::string& channel, GraphRunModel model, F callback) {
  detail::subscribe<T>(channel, model, std::move(callback), Scope::local);
}
/// Also to others, as the network file configures: a protobuf message or a NetworkData.
template <typename T>
void ToAny(const std::string& channel, const std::shared_ptr<T>& data) {
  detail::publish(channel, data, Scope::network);
}
template <typename T, typename F>
void FromAny(const std::string& channel, GraphRunModel model, F callback) {
  detail::subscribe<std::shared_ptr<T>>(channel, model, std::move(callback), Scope::network);
}
/// Closes (true) or opens a channel inside this process. Others still get its messages.
inline void SetCloseChannel(const std::string& channel, bool closed) {
  const std::lock_guard lock(detail::process.mutex);
  detail::process.closed[channel] = closed;
  detail::process.apply_closed(channel);
}
inline void InitCloseChannel(const std::string& file) {
  for (const auto& channel : hyphos::load_plan(file).or_throw().channels) {
    if (!is_among(hyphos::Where::inside, channel.open)) SetCloseChannel(channel.name, true);
  }
}
/// True if the channel has a subscription in this process.
inline bool BeSubscribed(const std::string& channel) {
  const std::lock_guard lock(detail::process.mutex);
  const auto ends = detail::process.open().runtime().endpoints();
  return std::any_of(ends.begin(), ends.end(), [&](const hyphos::EndpointInfo& end) {
    return !end.is_publisher && end.channel == channel;
  });
}

struct DataGraph {
  static DataGraph Instance() { return {}; }
  void CancelAndWaitFinish() const { detail::process.end(); }
};

struct NetworkBridge {
  static NetworkBridge Instance() { return {}; }
  void Stop() const { detail::process.end(); }
  void ConfigPublishChannel(const std::string& channel, bool open) const {
    hyphos::Runtime runtime = detail::process.open().runtime();
    runtime.set_channel_open(channel, open, hyphos::Where::outside).or_throw();
  }
  /// `index`: of the entry in network.subscribers.
  void ConfigSubscribeChannel(const std::string& channel, std::size_t index, bool open) const {
    hyphos::Runtime runtime = detail::process.open().runtime();
    const auto& peers = runtime.plan()->network.subscribers;
    runtime.set_channel_open(channel, peers.at(index).endpoint, open).or_throw();
  }
};

struct TransformationFrame {
  std::uint64_t time_stamp = 0;
  std::string parent_frame = {};
  std::string now_frame = {};
  Eigen::Isometry3d tf_to_parent = Eigen::Isometry3d::Identity();
};
using TFFrame = TransformationFrame;

/// Frames of this process. Throws hyphos::Exception for a frame that the tree refuses.
inline void ToTF(const TFFrame& frame) {
  const Eigen::Vector3d p = frame.tf_to_parent.translation();
  const Eigen::Quaterniond q(frame.tf_to_parent.rotation());
  const std::lock_guard lock(detail::process.mutex);
  detail::frames
      .set_static({.parent = frame.parent_frame,
                   .child = frame.now_frame,
                   .translation = {p.x(), p.y(), p.z()},
                   .rotation = {q.x(), q.y(), q.z(), q.w()}})
      .or_throw();
  detail::process.frame_stamps[frame.now_frame] = frame.time_stamp;
}
/// `now` in `parent`, with the newest stamp between them. `now_frame` is "NoFind" if there is none.
inline TFFrame FromTF(const std::string& parent, const std::string& now) {
  const std::lock_guard lock(detail::process.mutex);
  const auto found = detail::frames.get(parent, now);
  const auto chain = detail::frames.chain(parent, now);
  if (!found || !chain) return {0, parent, "NoFind"};
  const auto& [p, q] = std::tie(found->translation, found->rotation);
  TFFrame frame{0, parent, now};
  frame.tf_to_parent.translate(Eigen::Vector3d(p.x, p.y, p.z));
  frame.tf_to_parent.rotate(Eigen::Quaterniond(q.w, q.x, q.y, q.z));
  for (std::size_t i = 0; i < chain->frames.size(); ++i) {
    if (i == chain->ancestor) continue;
    frame.time_stamp = std::max(frame.time_stamp, detail::process.frame_stamps[chain->frames[i]]);
  }
  return frame;
}

/// Adds the file to the start values of the tree that all nodes share (hyphos::SharedParams).
inline void ParamsInit(const std::string& file) {
  const std::lock_guard lock(detail::process.mutex);
  detail::process.open().shared_params().load(file).or_throw();
}
/// The shared tree with its newest values. Null if it is empty.
inline const YAML::Node Params() {  // NOLINT: only the const operator[] adds no keys
  const std::lock_guard lock(detail::process.mutex);
  auto tree = detail::process.open().shared_params().tree();
  if (tree != detail::process.tree) {
    detail::process.params = tree->entries.empty() ? YAML::Node() : YAML::Load(to_yaml(*tree));
    detail::process.tree = std::move(tree);
  }
  return detail::process.params;
}

/// Microseconds. Relative time starts at the base and runs with real time.
struct TimeSystem {
  std::uint64_t GetRealTime() const {
    return static_cast<std::uint64_t>(detail::process.open().clock().now().ns / 1000);
  }
  std::uint64_t GetRelativeTime() const {
    const detail::Process& process = detail::process;
    const bool is_real = process.base_us == 0;
    return is_real ? GetRealTime() : process.base_us + GetRealTime() - process.real_at_base_us;
  }
  void SetBaseTime(std::uint64_t base_us) const {
    detail::process.real_at_base_us = GetRealTime();
    detail::process.base_us = base_us;
  }
};
inline TimeSystem GetTimeSystem() { return {}; }

/// An empty name omits a file. Without a network file, no message leaves the process.
inline void TROSInit(const std::string& param_file, const std::string& graph_file,
                     const std::string& network_file, std::uint64_t base_time_us) {
  detail::process.open({.plan_file = network_file, .offline = network_file.empty()});
  if (!param_file.empty()) ParamsInit(param_file);
  if (!graph_file.empty()) InitCloseChannel(graph_file);
  GetTimeSystem().SetBaseTime(base_time_us);
}

}  // namespace tros::tros_base
