#include "gateway/ros2/left_out.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "gateway/ros2/names.hpp"
#include "gateway/ros2/node_graph.hpp"

namespace hyphos::gateway::ros2 {
namespace {

/// Time limit for a ROS node to announce its endpoints.
constexpr Duration kIntroduction = Duration::from_seconds(3);
/// The suffix of the key of a reported endpoint.
const std::string kReported = " reported";

/// Hidden names of ROS, which do not pass: one of their parts begins with '_'.
bool is_hidden(const std::string& name) { return name.find("/_") != std::string::npos; }

/// "hyphos.msgs.Log", or "an unknown type".
std::string known(const std::string& type) { return type.empty() ? "an unknown type" : type; }

std::string text_of(const GUID_t& guid) {
  std::ostringstream text;
  text << guid;
  return text.str();
}

/// The name of a topic or service such as "/chatter". Other names are returned unchanged.
std::string name_of(const std::string& in_dds) {
  if (auto topic = topic_of_dds(in_dds)) return *topic;
  const auto service = service_of_dds(in_dds);
  return service ? service->service : in_dds;
}

/// "std_msgs/msg/String" for a ROS type. Other types are returned unchanged in quotes.
std::string type_name(const std::string& in_dds) {
  return type_of_dds(in_dds).value_or("'" + in_dds + "'");
}

}  // namespace

void LeftOut::report(const std::string& key, const std::string& name, std::string_view why,
                     const std::string& detail) {
  seen_.insert(key);
  if (!known_.contains(key)) context_.facade.clients().note(client_of(name), why, detail);
}

void LeftOut::look(const Now& now) {
  seen_.clear();
  look_at_channels(now);
  look_at_calls("service", now.services, context_.settings.calls);
  // ActionsIn reports actions of ROS.
  look_at_calls("action", now.actions, context_.settings.goals);
  look_at_readers(now);
  look_at_writers(now);
  known_ = seen_;
  std::erase_if(nameless_, [this](const auto& one) { return !seen_.contains(one.first); });
}

void LeftOut::finish() {
  for (const auto& [key, one] : nameless_) {
    if (known_.contains(key + kReported)) continue;
    context_.facade.clients().note(client_of(one.name), one.why,
                                   std::string(NodeGraph::kNoNode) + one.text);
  }
}

void LeftOut::report_endpoint(const std::string& key, const GUID_t& endpoint,
                              const std::string& name, std::string_view why,
                              const std::string& text) {
  const std::string node = context_.nodes->node_of(endpoint);
  if (node == NodeGraph::kNoNode) {
    seen_.insert(key);
    const auto waiting =
        nameless_.emplace(key, Waiting{monotonic_now(), name, std::string(why), text}).first;
    const bool was_reported = known_.contains(key + kReported);
    if (!was_reported && monotonic_now() < waiting->second.since + kIntroduction) return;
  }
  report(key + kReported, name, why, node + text);
}

void LeftOut::look_at_channels(const Now& now) {
  for (const TopicInfo& info : now.channels) {
    const bool by_others = std::ranges::any_of(
        info.publishers, [](const std::string& name) { return !is_client(name); });
    if (!by_others || is_hidden(info.topic) || !context_.settings.channels.match(info.topic)) {
      continue;
    }
    const std::string whose =
        "the channel of " + list_of(info.publishers, "a node") + " carries " + known(info.carries);
    if (!is_name(info.topic)) {
      report(
          "name " + info.topic, info.topic, "unsupported",
          "the channel is left out: ROS allows only letters, digits and '_' in a name. Details: " +
              whose);
    } else if (info.type.empty()) {
      report("channel " + info.topic, info.topic, "no_counterpart",
             "the channel is left out: " + whose + ", which has no corresponding ROS type");
    }
  }
}

void LeftOut::look_at_calls(const std::string& kind, const std::vector<ServiceInfo>& calls,
                            const Patterns& which) {
  for (const ServiceInfo& info : calls) {
    if (is_client(info.node) || is_hidden(info.name) || !which.match(info.name)) continue;
    const std::string whose =
        "the " + kind + " of " + info.node + " carries " + known(info.carries);
    if (!is_name(info.name)) {
      report(
          kind + " name " + info.name, info.name, "unsupported",
          "the " + kind +
              " is left out: ROS allows only letters, digits and '_' in a name. Details: " + whose);
    } else if (info.type.empty()) {
      report(kind + " " + info.name, info.name, "no_counterpart",
             "the " + kind + " is left out: " + whose + ", which has no corresponding ROS type");
    }
  }
}

void LeftOut::look_at_readers(const Now& now) {
  for (const OwnEndpoint& own : now.own.writers) {
    for (const auto& [guid, reader] : now.domain.readers) {
      if (reader.topic != own.topic) continue;
      const std::string why = mismatch(own.qos, reader.qos);
      if (reader.type == own.type && why.empty()) continue;
      const std::string key = own.topic + " " + text_of(guid);
      if (reader.type != own.type) {
        report_endpoint("type " + key, guid, name_of(own.topic), "type_mismatch",
                        " subscribes to it as " + type_name(reader.type) +
                            ", but the gateway publishes it as " + type_name(own.type));
      } else {
        report_endpoint("qos " + key + why, guid, name_of(own.topic), "incompatible_qos",
                        " does not receive it: " + why);
      }
    }
  }
}

void LeftOut::look_at_writers(const Now& now) {
  for (const auto& [guid, writer] : now.domain.writers) {
    const std::string name = name_of(writer.topic);
    const std::string key = writer.topic + " " + text_of(guid);
    const bool is_topic = topic_of_dds(writer.topic).has_value();
    if (is_topic && (is_hidden(name) || !context_.settings.topics.match(name))) continue;
    const bool is_foreign = is_topic && (!type_of_dds(writer.type) || !is_name(name));
    const auto own = std::ranges::find(now.own.readers, writer.topic, &OwnEndpoint::topic);
    std::string why;
    if (!is_foreign) {
      if (own == now.own.readers.end()) continue;
      for (const std::string& one : differences(writer.qos, own->qos)) {
        why += (why.empty() ? "" : ", and ") + one;
      }
      if (own->type == writer.type && why.empty()) continue;
    }
    if (is_foreign) {
      report_endpoint("foreign " + key, guid, name, "unsupported",
                      " publishes it as '" + writer.type +
                          "'. The topic is left out, because its name or type is not valid in ROS");
    } else if (own->type != writer.type) {
      report_endpoint("type " + key, guid, name, "type_mismatch",
                      " publishes it as " + type_name(writer.type) +
                          ", but the gateway subscribes to it as " + type_name(own->type));
    } else {
      report_endpoint("qos " + key + why, guid, name, "incompatible_qos",
                      " is not received: " + why);
    }
  }
}

}  // namespace hyphos::gateway::ros2
