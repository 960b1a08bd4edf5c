#include "gateway/ros2/topics_out.hpp"

#include <algorithm>
#include <utility>

#include "gateway/facade/channel_names.hpp"
#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/names.hpp"
#include "gateway/ros2/node_graph.hpp"
#include "gateway/ros2/transport.hpp"

namespace hyphos::gateway::ros2 {

namespace {

/// As rcl publishes `/rosout`.
Qos rosout_qos() { return {.transient_local = true, .depth = 1000, .lifespan_ms = 10'000}; }

bool is_log(const TopicInfo& info) {
  return info.topic == kLogTopic && info.carries == kLogCarries;
}

/// The QoS of the writer for a channel. It is reliable by default, even if the channel is not, so
/// that every subscriber matches: subscribers of rclcpp request reliable by default. A latched
/// channel keeps its latched_depth.
Qos qos_of(const TopicInfo& info, const Settings& settings) {
  if (is_log(info)) return rosout_qos();
  const auto depth = static_cast<std::int32_t>(std::max(info.depth, 1U));
  return {.reliable = info.reliable || !settings.best_effort.match(info.topic),
          .transient_local = info.latched,
          .depth = info.latched ? static_cast<std::int32_t>(info.latched_depth) : depth,
          .deadline_ms = info.deadline_ms,
          .lifespan_ms = info.lifespan_ms};
}

}  // namespace

/// One channel: a client subscription of the robot's graph, and the writer for its messages.
class TopicsOut::Outbound {
 public:
  Outbound(const Context& context, const TopicInfo& info)
      : context_(context),
        topic_(info.topic),
        ros_topic_(is_log(info) ? std::string(kRosout) : info.topic),
        channel_type_(info.type),
        qos_(qos_of(info, context.settings)),
        writer_(context.participant, {}) {}

  Result<void> open() {
    const std::string type = ros2_type(channel_type_);
    const std::string in_dds = dds_type(type);
    if (in_dds.empty())
      return Error{Code::unsupported, "'" + type + "' is not a valid ROS type name", topic_};
    auto opened = writer_.open(
        {dds_topic(ros_topic_), in_dds, qos_, user_data_of_type(context_.facade.types(), type)});
    if (!opened) return opened;
    auto subscription = context_.facade.topics().open_subscription(
        client_of(topic_), topic_, type, Form::cdr, {.lifespan_ms = qos_.lifespan_ms},
        [this](const OutgoingMessage& message) { send(message); });
    if (!subscription) return subscription.error();
    subscription_ = std::move(*subscription);
    return success();
  }
  [[nodiscard]] bool is_of(const TopicInfo& info) const {
    return info.type == channel_type_ && qos_of(info, context_.settings) == qos_;
  }
  [[nodiscard]] GUID_t writer() const { return writer_.guid(); }

  [[nodiscard]] OwnEndpoint endpoint() const {
    return {dds_topic(ros_topic_), dds_type(ros2_type(channel_type_)), qos_};
  }

 private:
  /// A best-effort reader loses a large message if a part of it overflows its socket. Other readers
  /// request the part again, and their first message is paced so that this is rare.
  [[nodiscard]] Pace pace_of(const EncodedMessage::Parts& message) {
    std::size_t size = 0;
    for (const auto part : message) size += part.size();
    if (size <= Pace::kBurst) return Pace(0);
    auto readers = writer_.readers();
    const bool is_first =
        !std::includes(greeted_.begin(), greeted_.end(), readers.begin(), readers.end());
    greeted_ = std::move(readers);
    const bool needed = is_first || std::ranges::any_of(greeted_, [this](const GUID_t& reader) {
                          return context_.discovery->is_best_effort(reader);
                        });
    // Readers of a transient-local writer request its earlier messages, and begin with them.
    return Pace(needed ? context_.settings.pace_mb_s * 1'000'000ULL : 0,
                is_first && !qos_.transient_local);
  }

  void send(const OutgoingMessage& message) {
    const EncodedMessage::Parts parts = message.bytes.parts();
    const Pace pace = pace_of(parts);
    const auto sent = writer_.write(parts);
    if (sent) return;
    const Code code = sent.error().code;
    context_.facade.clients().count(client_of(topic_),
                                    code == Code::overloaded ? "too_large" : to_string(code),
                                    sent.error().message);
  }

  const Context& context_;
  const std::string topic_;
  const std::string ros_topic_;
  const std::string channel_type_;
  const Qos qos_;
  Writer writer_;
  /// readers that have received a large message, owned by the thread of the subscription
  std::set<GUID_t> greeted_;
  std::unique_ptr<ClientSubscription>
      subscription_;  ///< declared last, because it uses all members above
};

TopicsOut::TopicsOut(const Context& context) : context_(context) {}
TopicsOut::~TopicsOut() = default;

void TopicsOut::look(const std::vector<TopicInfo>& topics) {
  std::map<std::string, const TopicInfo*> wanted;
  for (const TopicInfo& info : topics) {
    const bool by_others = std::any_of(info.publishers.begin(), info.publishers.end(),
                                       [](const auto& name) { return !is_client(name); });
    if (by_others && !info.type.empty() && is_name(info.topic) &&
        context_.settings.channels.match(info.topic)) {
      wanted.emplace(info.topic, &info);
    }
  }
  std::erase_if(outbound_, [&](const auto& entry) {
    const auto info = wanted.find(entry.first);
    return info == wanted.end() || !entry.second->is_of(*info->second);
  });
  for (const auto& [topic, info] : wanted) {
    const std::string key = topic + " " + info->type;
    if (outbound_.contains(topic) || !refused_.may_try(key)) continue;
    auto outbound = std::make_unique<Outbound>(context_, *info);
    if (const auto opened = outbound->open(); opened) {
      refused_.forget(key);
      outbound_.emplace(topic, std::move(outbound));
    } else if (opened.error().code == Code::disconnected) {
      return;  // the gateway's node is shutting down
    } else if (refused_.failed(key)) {
      context_.facade.clients().note(client_of(topic), to_string(opened.error().code),
                                     "the channel is left out: " + opened.error().to_string());
    }
  }
}

std::vector<GUID_t> TopicsOut::writers() const {
  std::vector<GUID_t> writers;
  for (const auto& [topic, outbound] : outbound_) writers.push_back(outbound->writer());
  return writers;
}

void TopicsOut::add_endpoints(OwnEndpoints& endpoints) const {
  for (const auto& [topic, outbound] : outbound_) endpoints.writers.push_back(outbound->endpoint());
}

}  // namespace hyphos::gateway::ros2
