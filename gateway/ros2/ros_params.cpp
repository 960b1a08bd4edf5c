#include "gateway/ros2/ros_params.hpp"

#include <algorithm>
#include <utility>

#include "gateway/ros2/names.hpp"

namespace hyphos::gateway::ros2 {
namespace {

constexpr std::string_view kEvents = "rt/parameter_events";
constexpr std::string_view kEventType = "rcl_interfaces::msg::dds_::ParameterEvent_";
constexpr Qos kEventQos{.reliable = true, .transient_local = false, .depth = 1000};
constexpr std::size_t kMaxNoted = 1000;

/// In the order of RosParams::Kind.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kServices = {{
    {"list_parameters", "rcl_interfaces/srv/ListParameters"},
    {"get_parameters", "rcl_interfaces/srv/GetParameters"},
    {"describe_parameters", "rcl_interfaces/srv/DescribeParameters"},
    {"set_parameters", "rcl_interfaces/srv/SetParameters"},
}};

/// "ns.talker.rate_hz" for "/ns/talker" and "rate_hz". Names such as
/// "qos_overrides./clock.depth" have a '/', which no name of the robot has.
std::string shown_name(const std::string& node, const std::string& param) {
  std::string name = node.substr(1);
  std::ranges::replace(name, '/', '.');
  std::string below = param;
  std::ranges::replace(below, '/', '_');
  return name + "." + below;
}

}  // namespace

RosParams::RosParams(const Context& context, NodeParams& nodes)
    : context_(context),
      nodes_(nodes),
      events_(context.participant,
              [inbox = inbox_, wake = context.wake](const Received& message) {
                auto event = read_event(message.bytes);
                if (!event) return;
                {
                  const MutexLock lock(inbox->mutex);
                  inbox->missed = inbox->missed || inbox->events.size() >= kMaxEvents;
                  if (!inbox->missed) inbox->events.push_back(std::move(*event));
                }
                wake();
              },
              {}) {}

RosParams::~RosParams() {
  events_.close();
  for (auto& [name, node] : ros_) end(node);
  (void)nodes_.show({});
}

void RosParams::end(Node& node) {
  for (const auto& client : node.clients) {
    if (client) client->end();
  }
}

void RosParams::note(const std::string& name, const Error& error) {
  if (noted_.size() >= kMaxNoted || !noted_.insert(name + " " + error.message).second) return;
  context_.facade.clients().note(client_of(name), to_string(error.code), error.message);
}

void RosParams::look(const DomainState& state, const std::set<std::string>& ours) {
  if (context_.settings.rosparams.empty()) return;
  open_events();
  follow_nodes(state, ours);
  take_replies();
  take_events();
  const Time now = monotonic_now();
  for (auto& [name, node] : ros_) {
    for (const auto& client : node.clients) client->expire();
    const bool is_due = node.asked.ns == 0 || node.asked + kRefresh < now;
    const bool is_ready =
        std::ranges::all_of(node.clients, [](const auto& client) { return client->is_ready(); });
    if (node.asks || !is_due || !is_ready) continue;
    ask(name, node, list, write_list_request());
  }
  send();
  if (std::exchange(changed_, false)) show();
}

void RosParams::open_events() {
  if (has_events_ || !refused_.may_try("events")) return;
  const auto opened = events_.open(
      {std::string(kEvents), std::string(kEventType), kEventQos,
       user_data_of_type(context_.facade.types(), "rcl_interfaces/msg/ParameterEvent")});
  has_events_ = opened.ok();
  if (!opened && refused_.failed("events")) note("/parameter_events", opened.error());
}

void RosParams::follow_nodes(const DomainState& state, const std::set<std::string>& ours) {
  std::map<std::string, std::array<const Offered*, kKinds>> found;
  const auto offered = offered_services(state);
  for (const auto& [service, offer] : offered) {
    const std::size_t slash = service.rfind('/');
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      if (service.substr(slash + 1) == kServices[kind].first &&
          offer.type == kServices[kind].second) {
        found[service.substr(0, slash)][kind] = &offer;
      }
    }
  }
  std::erase_if(found, [&](const auto& entry) {
    return std::ranges::count(entry.second, nullptr) > 0 || ours.contains(entry.first) ||
           !context_.settings.rosparams.match(entry.first);
  });
  for (auto one = ros_.begin(); one != ros_.end();) {
    const auto now = found.find(one->first);
    bool stays = now != found.end();
    for (std::size_t kind = 0; stays && kind < kKinds; ++kind) {
      stays = one->second.clients[kind]->is_of(*now->second[kind]);
    }
    if (stays) {
      ++one;
      continue;
    }
    end(one->second);
    changed_ = true;
    one = ros_.erase(one);
  }
  for (const auto& [name, offers] : found) {
    if (ros_.contains(name) || !refused_.may_try(name)) continue;
    if (ros_.size() >= kMaxNodes) {
      if (!std::exchange(is_full_, true)) {
        note(name, {Code::exhausted,
                    "the robot does not see the parameters of this node: at most " +
                        std::to_string(kMaxNodes) + " nodes. Select them with rosparams",
                    name});
      }
      return;
    }
    Node node;
    Result<void> opened = success();
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      node.clients[kind] = std::make_shared<ServiceClient>(
          context_, name + "/" + std::string(kServices[kind].first), *offers[kind]);
      if (opened) opened = node.clients[kind]->open();
    }
    if (opened) {
      ros_.emplace(name, std::move(node));
    } else {
      end(node);
      if (refused_.failed(name)) note(name, opened.error());
    }
  }
}

void RosParams::ask(const std::string& name, Node& node, Kind kind,
                    std::span<const std::byte> request, const std::string& param) {
  if (kind != set) node.asks = true;
  node.clients[kind]->call(
      request, context_.settings.call_timeout,
      [inbox = inbox_, wake = context_.wake, name, kind, param](Result<Buffer> reply) {
        {
          const MutexLock lock(inbox->mutex);
          inbox->replies.push_back({name, kind, param, std::move(reply)});
        }
        wake();
      });
}

void RosParams::take_replies() {
  std::vector<Arrived> replies;
  {
    const MutexLock lock(inbox_->mutex);
    replies.swap(inbox_->replies);
  }
  for (const Arrived& arrived : replies) take(arrived);
}

void RosParams::take(const Arrived& arrived) {
  const auto found = ros_.find(arrived.node);
  if (found == ros_.end()) return;
  Node& node = found->second;
  if (arrived.kind == set) {
    const auto shown = shown_.find(shown_name(arrived.node, arrived.param));
    if (shown == shown_.end()) return;
    shown->second.is_busy = false;
    const auto outcomes = arrived.reply ? read_outcomes(arrived.reply->bytes()) : std::nullopt;
    if (outcomes && !outcomes->empty() && outcomes->front().successful) {
      node.values.insert_or_assign(arrived.param, shown->second.value);
      return;
    }
    const std::string why = !arrived.reply                   ? arrived.reply.error().message
                            : outcomes && !outcomes->empty() ? outcomes->front().reason
                                                             : "the reply is no result";
    context_.facade.clients().count(client_of(arrived.node), "param", arrived.param + ": " + why);
    shown->second.is_refused = true;
    changed_ = true;
    return;
  }
  node.asks = false;
  const auto failed = [&](const std::string& why) {
    node.asked = monotonic_now();  // again after kRefresh
    note(arrived.node, {Code::corrupt, "its parameters cannot be read: " + why, arrived.node});
  };
  if (!arrived.reply) return failed(arrived.reply.error().message);
  const auto bytes = arrived.reply->bytes();
  if (arrived.kind == list) {
    auto names = read_listed(bytes);
    if (!names) return failed("the reply is no list of names");
    if (names->size() > kMaxParams) {
      note(arrived.node, {Code::exhausted,
                          std::to_string(names->size()) + " parameters. The robot sees the first " +
                              std::to_string(kMaxParams),
                          arrived.node});
      names->resize(kMaxParams);
    }
    node.names = std::move(*names);
    return ask(arrived.node, node, describe, write_names(node.names));
  }
  if (arrived.kind == describe) {
    if (auto about = read_descriptions(bytes)) node.about = std::move(*about);
    return ask(arrived.node, node, get, write_names(node.names));
  }
  const auto values = read_values(bytes);
  if (!values || values->size() != node.names.size()) return failed("the reply has other values");
  std::map<std::string, ParamVariant> now;
  for (std::size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i]) now.emplace(node.names[i], *(*values)[i]);
  }
  node.asked = monotonic_now();
  changed_ = changed_ || now != node.values;
  node.values = std::move(now);
}

void RosParams::take_events() {
  std::vector<ParamEvent> events;
  bool missed = false;
  {
    const MutexLock lock(inbox_->mutex);
    events.swap(inbox_->events);
    missed = std::exchange(inbox_->missed, false);
  }
  if (missed) {
    for (auto& [name, node] : ros_) node.asked = {};
  }
  for (ParamEvent& event : events) {
    const auto found = ros_.find(event.node);
    if (found == ros_.end()) continue;
    Node& node = found->second;
    if (node.asks) node.asked = {};  // the reply may be older than the event: ask again
    for (auto* const params : {&event.appeared, &event.changed}) {
      for (auto& [name, value] : *params) {
        if (node.values.size() >= kMaxParams && !node.values.contains(name)) continue;
        node.values.insert_or_assign(name, std::move(value));
      }
    }
    for (const std::string& name : event.deleted) node.values.erase(name);
    changed_ = true;
  }
}

void RosParams::send() {
  const ParamSet own = nodes_.own();
  for (auto& [name, shown] : shown_) {
    const ParamInfo* info = own.find(name);
    if (info == nullptr || shown.is_busy || info->value == shown.value) continue;
    const auto found = ros_.find(shown.node);
    if (found == ros_.end()) continue;
    shown.value = info->value;
    shown.is_busy = true;
    ask(shown.node, found->second, set, write_wishes({{shown.param, info->value}}), shown.param);
  }
}

void RosParams::show() {
  std::map<std::string, Shown> wanted;
  std::vector<ShownParam> values;
  for (const auto& [node_name, node] : ros_) {
    for (const auto& [param, value] : node.values) {
      const std::string name = shown_name(node_name, param);
      Shown shown{node_name, param, value};
      const auto before = shown_.find(name);
      const bool is_known = before != shown_.end() && before->second.node == node_name;
      if (is_known && before->second.is_busy) {
        shown = before->second;  // the robot's value, until ROS replies
      }
      const bool is_news =
          !is_known || before->second.is_refused || before->second.value != shown.value;
      if (!wanted.emplace(name, shown).second) continue;
      const auto about = node.about.find(param);
      std::string text = "Parameter of ROS 2: " + node_name + " " + param;
      if (about != node.about.end() && !about->second.empty()) text += ". " + about->second;
      values.push_back({name, shown.value, is_news, text.substr(0, 4096)});
    }
  }
  for (const auto& [name, why] : nodes_.show(values)) {
    note(wanted.at(name).node,
         {Code::unsupported, "parameter " + wanted.at(name).param + " is left out: " + why,
          wanted.at(name).node});
    wanted.erase(name);
  }
  shown_ = std::move(wanted);
}

std::vector<GUID_t> RosParams::readers() const {
  std::vector<GUID_t> readers;
  for (const auto& [name, node] : ros_) {
    for (const auto& client : node.clients) readers.push_back(client->reader());
  }
  if (has_events_) readers.push_back(events_.guid());
  return readers;
}

std::vector<GUID_t> RosParams::writers() const {
  std::vector<GUID_t> writers;
  for (const auto& [name, node] : ros_) {
    for (const auto& client : node.clients) writers.push_back(client->writer());
  }
  return writers;
}

void RosParams::add_endpoints(OwnEndpoints& endpoints) const {
  for (const auto& [name, node] : ros_) {
    for (const auto& client : node.clients) client->add_endpoints(endpoints);
  }
}

}  // namespace hyphos::gateway::ros2
