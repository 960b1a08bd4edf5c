#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "hyphos/node.hpp"
#include "hyphos/plan.hpp"
#include "hyphos/result.hpp"

namespace hyphos::testing::detail {

/// Forwards the messages of an intercepted channel, or applies a fault. Thread-safe.
class Relay {
 public:
  using Fault = std::function<void(const Message<RawMessage>&)>;

  explicit Relay(RawPublisher out) : out_(std::move(out)) {}
  [[nodiscard]] std::uint32_t listeners() const { return out_.listeners(); }
  void set(Fault fault) {
    const std::lock_guard lock(mutex_);
    fault_ = fault ? std::make_shared<const Fault>(std::move(fault)) : nullptr;
  }
  void pass(const Message<RawMessage>& message) {
    std::shared_ptr<const Fault> fault;
    {
      const std::lock_guard lock(mutex_);
      fault = fault_;
    }
    if (fault) return (*fault)(message);
    out_.publish(message->payload, message->buffers);
  }

 private:
  const RawPublisher out_;
  std::mutex mutex_;
  std::shared_ptr<const Fault> fault_;
};

/// One place where the test stands between publishers and subscribers. The name in `intercept` is
/// "scan" for a channel, or "scan:mapper" for the link of a channel to one subscriber.
struct Interception {
  std::string name;
  std::string channel;
  std::string subscriber = {};  ///< empty: the whole channel

  /// The channel that the test receives, and the channel on which it forwards.
  [[nodiscard]] std::string source() const {
    return subscriber.empty() ? channel + "/undamaged" : channel;
  }
  [[nodiscard]] std::string target() const {
    return subscriber.empty() ? channel : channel + "/to/" + subscriber;
  }
};

inline Interception interception(const Plan& plan, const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos || plan.channel(name) != nullptr) return {name, name};
  return {name, name.substr(0, colon), name.substr(colon + 1)};
}

/// The settings that give another channel the type and the policy of `from`.
inline void copy_policy(const ChannelPlan& from, const std::string& channel,
                        std::vector<std::string>& settings) {
  const std::string key = "channels." + channel + ".";
  const Policy& policy = from.policy;
  if (!from.type.empty()) settings.push_back(key + "type=" + from.type);
  settings.push_back(key + "reliability=" + std::string(to_string(policy.reliability)));
  settings.push_back(key + "depth=" + std::to_string(policy.depth));
  settings.push_back(key + "overflow=" + std::string(to_string(policy.overflow)));
  settings.push_back(key + "latched=" + (policy.latched ? "true" : "false"));
  if (policy.latched_depth > 1) {
    settings.push_back(key + "latched_depth=" + std::to_string(policy.latched_depth));
  }
}

/// The `--set` argument that gives a node another channel in place of `channel`.
inline std::string renamed(const Plan& plan, const std::string& node, const std::string& channel,
                           const std::string& to) {
  std::string old = channel;
  for (const auto& [from, now] : plan.node(node)->remap) {
    if (now == channel) old = from;
  }
  return "nodes." + node + ".remap." + old + "=" + to;
}

inline std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return "[" + list + "]";
}

inline void refuse_interception(const Interception& one, const std::string& why, const Plan& plan) {
  Result<void>(
      Error{Code::invalid_config, "cannot intercept '" + one.name + "': " + why, plan.file})
      .or_throw();
}

/// The `--set` arguments that put the test between publishers and subscribers. `others`: the
/// subscribers of the channel that keep it.
inline void intercept(const Plan& plan, const Interception& one, std::vector<std::string>& others,
                      std::vector<std::string>& settings) {
  const ChannelPlan* channel = plan.channel(one.channel);
  const bool is_link = !one.subscriber.empty();
  const std::vector<std::string> none;
  const auto& named = [&]() -> const std::vector<std::string>& {
    if (channel == nullptr) return none;
    const auto& list = is_link ? channel->subscribers : channel->publishers;
    return list ? *list : none;
  }();
  if (is_link && std::ranges::find(named, one.subscriber) == named.end()) {
    refuse_interception(one, "the plan does not name this subscriber", plan);
  }
  if (named.empty()) refuse_interception(one, "the plan does not name its publishers", plan);
  if (is_link) {
    copy_policy(*channel, one.target(), settings);
    settings.push_back(renamed(plan, one.subscriber, one.channel, one.target()));
    settings.push_back("channels." + one.target() + ".publishers=[]");
    settings.push_back("channels." + one.target() + ".subscribers=[" + one.subscriber + "]");
    std::erase(others, one.subscriber);
    settings.push_back("channels." + one.channel + ".subscribers=" + list_of(others));
    return;
  }
  copy_policy(*channel, one.source(), settings);
  for (const std::string& node : named) {
    settings.push_back(renamed(plan, node, one.channel, one.source()));
  }
  settings.push_back("channels." + one.source() + ".publishers=" + list_of(named));
  settings.push_back("channels." + one.source() + ".subscribers=[]");
  settings.push_back("channels." + one.channel + ".publishers=[]");
}

}  // namespace hyphos::testing::detail
