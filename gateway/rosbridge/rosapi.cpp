#include "gateway/rosbridge/rosapi.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "gateway/rosbridge/context.hpp"
#include "gateway/rosbridge/definition.hpp"
#include "gateway/rosbridge/json_text.hpp"
#include "gateway/rosbridge/request.hpp"
#include "hyphos/remote_params.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

constexpr std::string_view kPrefix = "/rosapi/";
using Texts = std::vector<std::string>;

template <typename List, typename Which, typename Of>
Texts chosen(const List& list, Which which, Of of) {
  Texts out;
  for (const auto& one : list) {
    if (which(one)) out.push_back(of(one));
  }
  return out;
}

std::string member(std::string_view key, const Texts& texts) {
  return "{" + json_string(key) + ":" + quoted_list(texts) + "}";
}

std::string member(std::string_view key, std::string_view text) {
  return "{" + json_string(key) + ":" + json_string(text) + "}";
}

bool contains(const Texts& texts, const std::string& text) {
  return std::ranges::find(texts, text) != texts.end();
}

Texts names_of(const std::vector<TopicInfo>& topics) {
  return chosen(topics, [](const auto&) { return true; }, [](const auto& t) { return t.topic; });
}

Texts types_of(const std::vector<TopicInfo>& topics) {
  return chosen(topics, [](const auto&) { return true; }, [](const auto& t) { return t.type; });
}

// Two spellings name the same type: pkg/Type and pkg/msg/Type.
std::string short_type(std::string type) {
  const std::size_t first = type.find('/');
  const std::size_t last = type.rfind('/');
  if (first != last) type.erase(first, last - first);
  return type;
}

/// Finds a name in a list, with or without its first slash.
template <typename Info>
std::optional<Info> find_in(const std::vector<Info>& list, const std::string& name,
                            std::string Info::* key) {
  const auto at = std::ranges::find(list, absolute(name), key);
  return at == list.end() ? std::nullopt : std::optional(*at);
}

/// An argument by its name, or by its position in a list.
std::string argument(std::string_view args, std::string_view key, std::size_t place) {
  if (!args.starts_with('[')) return text_argument(args, key);
  const auto items = list_items(args);
  return items && place < items->size() ? plain_text((*items)[place]) : std::string();
}

Error no_param(const std::string& name) {
  return {Code::not_found,
          "no node has a parameter of this name. Call /rosapi/get_param_names for a list", name};
}

}  // namespace

struct Rosapi::Entry {
  std::string_view name;
  std::string_view type;
  Result<std::string> (Rosapi::*answer)(std::string_view args) const;
};

const Rosapi::Entry Rosapi::kEntries[] = {
    {"topics", "rosapi/Topics", &Rosapi::topics},
    {"topics_and_raw_types", "rosapi/TopicsAndRawTypes", &Rosapi::topics_and_raw_types},
    {"topics_for_type", "rosapi/TopicsForType", &Rosapi::topics_for_type},
    {"topic_type", "rosapi/TopicType", &Rosapi::topic_type},
    {"publishers", "rosapi/Publishers", &Rosapi::publishers},
    {"subscribers", "rosapi/Subscribers", &Rosapi::subscribers},
    {"services", "rosapi/Services", &Rosapi::services},
    {"services_for_type", "rosapi/ServicesForType", &Rosapi::services_for_type},
    {"service_type", "rosapi/ServiceType", &Rosapi::service_type_of},
    {"service_node", "rosapi/ServiceNode", &Rosapi::service_node},
    {"service_providers", "rosapi/ServiceProviders", &Rosapi::service_providers},
    {"nodes", "rosapi/Nodes", &Rosapi::nodes},
    {"node_details", "rosapi/NodeDetails", &Rosapi::node_details},
    {"message_details", "rosapi/MessageDetails", &Rosapi::message_details},
    {"service_request_details", "rosapi/ServiceRequestDetails", &Rosapi::request_details},
    {"service_response_details", "rosapi/ServiceResponseDetails", &Rosapi::response_details},
    {"get_param_names", "rosapi/GetParamNames", &Rosapi::param_names},
    {"has_param", "rosapi/HasParam", &Rosapi::has_param},
    {"get_param", "rosapi/GetParam", &Rosapi::get_param},
    {"search_param", "rosapi/SearchParam", &Rosapi::search_param},
    {"set_param", "rosapi/SetParam", nullptr},  // replies later
    {"delete_param", "rosapi/DeleteParam", &Rosapi::delete_param},
    {"action_servers", "rosapi/GetActionServers", &Rosapi::action_servers},
    {"action_type", "rosapi/ActionType", &Rosapi::action_type_of},
    {"action_goal_details", "rosapi/ActionGoalDetails", &Rosapi::goal_details},
    {"action_result_details", "rosapi/ActionResultDetails", &Rosapi::result_details},
    {"action_feedback_details", "rosapi/ActionFeedbackDetails", &Rosapi::feedback_details},
    {"interfaces", "rosapi/Interfaces", &Rosapi::interfaces},
    {"get_ros_version", "rosapi/GetROSVersion", &Rosapi::ros_version},
    {"get_time", "rosapi/GetTime", &Rosapi::time},
};

const Rosapi::Entry* Rosapi::find(std::string_view service) {
  if (!service.starts_with(kPrefix)) return nullptr;
  const auto* const at = std::ranges::find(kEntries, service.substr(kPrefix.size()), &Entry::name);
  return at == std::end(kEntries) ? nullptr : at;
}

void Rosapi::answer(const Entry& service, std::string_view args, Done done) const {
  if (service.answer == nullptr) return set_param(args, std::move(done));
  done((this->*service.answer)(args));
}

std::vector<TopicInfo> Rosapi::shown_topics() const {
  auto topics = facade_.topics().list();
  std::erase_if(topics, [&](const TopicInfo& topic) {
    return !facade_.clients().lets(client_, Use::subscribe, topic.topic) &&
           !facade_.clients().lets(client_, Use::publish, topic.topic);
  });
  return topics;
}

std::vector<ServiceInfo> Rosapi::callable(std::vector<ServiceInfo> all) const {
  std::erase_if(all, [&](const ServiceInfo& one) {
    return !facade_.clients().lets(client_, Use::call, one.name);
  });
  return all;
}

std::vector<ServiceInfo> Rosapi::shown_services() const {
  return callable(facade_.services().list());
}
std::vector<ActionInfo> Rosapi::shown_actions() const { return callable(facade_.actions().list()); }

std::string Rosapi::service_type(std::string_view service) const {
  if (const Entry* own = find(service)) return std::string(own->type);
  const auto found = facade_.services().find(std::string(service));
  return found ? found->type : std::string();
}

Result<std::string> Rosapi::topics(std::string_view) const {
  const auto topics = shown_topics();
  return R"({"topics":)" + quoted_list(names_of(topics)) + R"(,"types":)" +
         quoted_list(types_of(topics)) + "}";
}

Result<std::string> Rosapi::topics_and_raw_types(std::string_view) const {
  const auto topics = shown_topics();
  Texts texts;
  for (const TopicInfo& topic : topics) {
    const auto type = facade_.types().message(topic.type);
    texts.push_back(type ? type->text : std::string());
  }
  return R"({"topics":)" + quoted_list(names_of(topics)) + R"(,"types":)" +
         quoted_list(types_of(topics)) + R"(,"typedefs_full_text":)" + quoted_list(texts) + "}";
}

Result<std::string> Rosapi::topics_for_type(std::string_view args) const {
  const std::string type = short_type(text_argument(args, "type"));
  return member("topics",
                chosen(
                    shown_topics(), [&](const TopicInfo& t) { return short_type(t.type) == type; },
                    [](const TopicInfo& t) { return t.topic; }));
}

Result<std::string> Rosapi::topic_type(std::string_view args) const {
  const auto topic = find_in(shown_topics(), text_argument(args, "topic"), &TopicInfo::topic);
  return member("type", topic ? topic->type : std::string());
}

Result<std::string> Rosapi::publishers(std::string_view args) const {
  const auto topic = find_in(shown_topics(), text_argument(args, "topic"), &TopicInfo::topic);
  return member("publishers", topic ? topic->publishers : Texts());
}

Result<std::string> Rosapi::subscribers(std::string_view args) const {
  const auto topic = find_in(shown_topics(), text_argument(args, "topic"), &TopicInfo::topic);
  return member("subscribers", topic ? topic->subscribers : Texts());
}

Result<std::string> Rosapi::services(std::string_view) const {
  Texts names = chosen(
      shown_services(), [](const auto&) { return true; },
      [](const ServiceInfo& s) { return s.name; });
  for (const Entry& entry : kEntries)
    names.push_back(std::string(kPrefix) + std::string(entry.name));
  return member("services", names);
}

Result<std::string> Rosapi::services_for_type(std::string_view args) const {
  const std::string type = short_type(text_argument(args, "type"));
  Texts names = chosen(
      shown_services(), [&](const ServiceInfo& s) { return short_type(s.type) == type; },
      [](const ServiceInfo& s) { return s.name; });
  for (const Entry& entry : kEntries) {
    if (entry.type == type) names.push_back(std::string(kPrefix) + std::string(entry.name));
  }
  return member("services", names);
}

Result<std::string> Rosapi::service_type_of(std::string_view args) const {
  const std::string name = absolute(text_argument(args, "service"));
  if (const Entry* own = find(name)) return member("type", own->type);
  const auto service = find_in(shown_services(), name, &ServiceInfo::name);
  return member("type", service ? service->type : std::string());
}

Result<std::string> Rosapi::service_node(std::string_view args) const {
  const auto service =
      find_in(shown_services(), text_argument(args, "service"), &ServiceInfo::name);
  return member("node", service ? service->node : std::string());
}

// In the original rosbridge, the member `service` of this request holds a type.
Result<std::string> Rosapi::service_providers(std::string_view args) const {
  const std::string type = short_type(text_argument(args, "service"));
  return member("providers", chosen(
                                 shown_services(),
                                 [&](const ServiceInfo& s) { return short_type(s.type) == type; },
                                 [](const ServiceInfo& s) { return s.node; }));
}

Result<std::string> Rosapi::nodes(std::string_view) const {
  return member("nodes", facade_.topics().nodes());
}

Result<std::string> Rosapi::node_details(std::string_view args) const {
  const std::string node = text_argument(args, "node");
  const auto topics = shown_topics();
  const auto topic = [](const TopicInfo& t) { return t.topic; };
  const Texts subscribing =
      chosen(topics, [&](const TopicInfo& t) { return contains(t.subscribers, node); }, topic);
  const Texts publishing =
      chosen(topics, [&](const TopicInfo& t) { return contains(t.publishers, node); }, topic);
  const Texts services = chosen(
      shown_services(), [&](const ServiceInfo& s) { return s.node == node; },
      [](const ServiceInfo& s) { return s.name; });
  return R"({"subscribing":)" + quoted_list(subscribing) + R"(,"publishing":)" +
         quoted_list(publishing) + R"(,"services":)" + quoted_list(services) + "}";
}

Result<std::string> Rosapi::typedefs(const std::string& type) const {
  const auto info = facade_.types().message(type);
  if (!info) return info.error();
  auto definitions = read_definitions(info->name, info->text);
  // A type without a definition remains a name.
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    for (std::size_t k = 0; k < definitions[i].fields.size(); ++k) {
      const std::string inside = definitions[i].fields[k].type;
      if (std::ranges::find(definitions, inside, &Definition::type) != definitions.end()) continue;
      if (const auto found = time_definition(inside)) definitions.push_back(*found);
    }
  }
  return R"({"typedefs":)" + typedefs_json(definitions) + "}";
}

Result<std::string> Rosapi::message_details(std::string_view args) const {
  return typedefs(text_argument(args, "type"));
}

Result<std::string> Rosapi::request_details(std::string_view args) const {
  const auto info = facade_.types().service(text_argument(args, "type"));
  if (!info) return info.error();
  return typedefs(info->request);
}

Result<std::string> Rosapi::response_details(std::string_view args) const {
  const auto info = facade_.types().service(text_argument(args, "type"));
  if (!info) return info.error();
  return typedefs(info->reply);
}

ParamNames Rosapi::params() const {
  params_.look();
  NodeParams::Sets sets = params_.all();
  std::erase_if(sets, [&](const auto& set) {
    return !facade_.clients().lets(client_, Use::subscribe, params_channel(set.first, "_params"));
  });
  static const ParamValue kNone;
  const bool sees_shared = facade_.clients().lets(client_, Use::subscribe, kSharedParams);
  const auto shared = params_.shared();
  return {sets, sees_shared ? *shared : kNone};
}

bool Rosapi::is_of_node(const std::string& param) const {
  const std::string name = ParamNames::normal(param);
  return std::ranges::any_of(
      params_.all(), [&](const auto& set) { return name.starts_with(ros_param(set.first, "")); });
}

Result<std::string> Rosapi::param_names(std::string_view) const {
  return member("names", params().all());
}

Result<std::string> Rosapi::has_param(std::string_view args) const {
  const bool exists = params().json(argument(args, "name", 0)).has_value();
  return std::string(R"({"exists":)") + (exists ? "true}" : "false}");
}

// As in the original rosbridge, the value and the client's default are JSON inside a JSON string.
Result<std::string> Rosapi::get_param(std::string_view args) const {
  if (const auto value = params().json(argument(args, "name", 0))) return member("value", *value);
  std::string otherwise = argument(args, "default", 1);
  if (otherwise.empty()) otherwise = argument(args, "default_value", 1);
  return member("value", otherwise.empty() ? "null" : std::string_view(otherwise));
}

Result<std::string> Rosapi::search_param(std::string_view args) const {
  const std::string name = ParamNames::normal(argument(args, "name", 0));
  return member("global_name", params().json(name) ? name : std::string());
}

Result<std::string> Rosapi::delete_param(std::string_view args) const {
  const std::string name = argument(args, "name", 0);
  const ParamNames names = params();
  const ParamNames::Found* const found = names.find(name);
  if (found == nullptr) return no_param(name);
  if (found->node.empty()) {
    if (const auto may = lets_share(name); !may) return may.error();
    const auto removed = params_.remove_shared(found->param);
    return removed ? Result<std::string>(std::string("{}")) : removed.error();
  }
  return Error{Code::unsupported, "cannot delete the parameter while a node declares it", name};
}

Result<void> Rosapi::lets_share(const std::string& name) const {
  if (facade_.clients().lets(client_, Use::publish, kSharedParams)) return success();
  return Error{
      Code::permission,
      std::string("the rules of the gateway do not allow this client to publish ") + kSharedParams,
      name};
}

// As in the original rosbridge, a new name is a new parameter. It belongs to no node.
Result<std::string> Rosapi::set_shared(const std::string& name, const std::string& value) const {
  if (const auto may = lets_share(name); !may) return may.error();
  if (value.empty()) return Error{Code::corrupt, "'value' must be a string of JSON", name};
  auto read = parse_tree(value, name);  // JSON is a subset of YAML
  if (!read) return Error{read.error().code, read.error().message, name};
  const auto set = params_.set_shared(shared_path(ParamNames::normal(name)), *read);
  return set ? Result<std::string>(std::string("{}")) : set.error();
}

void Rosapi::set_param(std::string_view args, Done done) const {
  const std::string name = argument(args, "name", 0);
  const std::string value = argument(args, "value", 1);
  const ParamNames names = params();
  const ParamNames::Found* const found = names.find(name);
  if (found == nullptr && is_of_node(name)) return done(no_param(name));
  if (found == nullptr || found->node.empty()) return done(set_shared(name, value));
  const std::string service = params_channel(found->node, "_set_params");
  if (!facade_.clients().lets(client_, Use::call, service)) {
    return done(Error{Code::permission,
                      "the rules of the gateway do not allow this client to call " + service,
                      name});
  }
  if (value.empty()) return done(Error{Code::corrupt, "'value' must be a string of JSON", name});
  auto read = parse_param(type_of(found->value), value);  // JSON is a subset of YAML
  if (!read) return done(Error{read.error().code, read.error().message, name});
  params_.set(found->node, found->param, *std::move(read),
              [done = std::move(done)](const Result<void>& set) {
                done(set ? Result<std::string>(std::string("{}")) : set.error());
              });
}

// The servers in the graph, and ROS 1 servers by their topics.
Result<std::string> Rosapi::action_servers(std::string_view) const {
  constexpr std::string_view kStatus = "/status";
  Texts names = chosen(
      shown_actions(), [](const auto&) { return true; },
      [](const ActionInfo& action) { return action.name; });
  for (const TopicInfo& topic : shown_topics()) {
    if (!topic.topic.ends_with(kStatus)) continue;
    if (short_type(topic.type) != "actionlib_msgs/GoalStatusArray") continue;
    std::string name = topic.topic.substr(0, topic.topic.size() - kStatus.size());
    if (!contains(names, name)) names.push_back(std::move(name));
  }
  return member("action_servers", names);
}

Result<std::string> Rosapi::action_type_of(std::string_view args) const {
  const std::string name = absolute(text_argument(args, "action"));
  if (const auto action = find_in(shown_actions(), name, &ActionInfo::name)) {
    return member("type", action->type);
  }
  // Goals of ROS 1 are sent in a separate message type, pkg/DockActionGoal.
  constexpr std::string_view kCarried = "ActionGoal";
  const auto goals = find_in(shown_topics(), name + "/goal", &TopicInfo::topic);
  const std::string type = goals ? short_type(goals->type) : std::string();
  if (!type.ends_with(kCarried)) return member("type", "");
  return member("type", type.substr(0, type.size() - kCarried.size()));
}

Result<std::string> Rosapi::goal_details(std::string_view args) const {
  return action_details(args, &ActionTypeInfo::goal);
}
Result<std::string> Rosapi::result_details(std::string_view args) const {
  return action_details(args, &ActionTypeInfo::result);
}
Result<std::string> Rosapi::feedback_details(std::string_view args) const {
  return action_details(args, &ActionTypeInfo::feedback);
}

Result<std::string> Rosapi::action_details(std::string_view args,
                                           std::string ActionTypeInfo::* part) const {
  const auto info = facade_.types().action(text_argument(args, "type"));
  if (!info) return info.error();
  return typedefs((*info).*part);
}

Result<std::string> Rosapi::interfaces(std::string_view) const {
  return member("interfaces", facade_.types().interfaces());
}

// Tools use it to choose the form of type names. No ROS distribution is installed.
Result<std::string> Rosapi::ros_version(std::string_view) const {
  return R"({"version":)" + std::to_string(facade_.types().ros_version()) +
         R"(,"distro":"hyphos"})";
}

Result<std::string> Rosapi::time(std::string_view) const {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t now = wall_now().ns;
  return R"({"time":{"secs":)" + std::to_string(now / kSecond) + R"(,"nsecs":)" +
         std::to_string(now % kSecond) + "}}";
}

}  // namespace hyphos::gateway::rosbridge
