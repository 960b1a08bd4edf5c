#include "gateway/ros2/ros_params.hpp"

#include <algorithm>
#include <utility>

#include "gateway/convert/utf.hpp"
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

/// A description that the robot accepts: at most 4 KB of UTF-8 without control characters.
std::string description(std::string_view text) {
  constexpr std::size_t kMost = 4096;
  std::string plain;
  append_utf8(text.substr(0, kMost), plain);
  for (char& letter : plain) {
    const bool is_space = letter == '\t' || letter == '\n' || letter == '\r';
    if (static_cast<unsigned char>(letter) < ' ' && !is_space) letter = ' ';
  }
  std::size_t size = std::min(plain.size(), kMost);
  while (size < plain.size() && (static_cast<unsigned char>(plain[size]) & 0xc0U) == 0x80U) --size;
  plain.resize(size);
  return plain;
}

}  // namespace

RosParams::RosParams(const Context& context, NodeParams& nodes)
    : context_(context),
      nodes_(nodes),
      events_(context.participant,
              [inbox = inbox_, drain = context.drain](const Received& message) {
                auto event = read_event(message.bytes);
                if (!event) return;
                {
                  const MutexLock lock(inbox->mutex);
                  inbox->event_bytes += message.bytes.size();
                  inbox->missed = inbox->missed || inbox->events.size() >= kMaxEvents ||
                                  inbox->event_bytes > kMaxEventBytes;
                  if (!inbox->missed) inbox->events.push_back(std::move(*event));
                }
                drain();
              },
              {.matched = [inbox = inbox_, drain = context.drain] {
                {
                  const MutexLock lock(inbox->mutex);
                  inbox->missed = true;
                }
                drain();
              }}) {}

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
  const Time now = monotonic_now();
  for (auto& [name, node] : ros_) {
    for (const auto& client : node.clients) client->expire();
    const bool is_due = node.asked.ns == 0 || node.asked + kRefresh < now;
    const bool is_ready =
        std::ranges::all_of(node.clients, [](const auto& client) { return client->is_ready(); });
    if (node.asks || !is_due || !is_ready) continue;
    node.again = false;
    node.newer.clear();
    ask(name, node, list, write_list_request());
  }
  drain();
}

void RosParams::drain() {
  take_replies();
  take_events();
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
    node.number = ++last_number_;
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
      [inbox = inbox_, drain = context_.drain, name, number = node.number, kind,
       param](Result<Buffer> reply) {
        {
          const MutexLock lock(inbox->mutex);
          inbox->replies.push_back({name, number, kind, param, std::move(reply)});
        }
        drain();
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
  // A node that has restarted is another node, which gets requests of its own.
  if (found == ros_.end() || found->second.number != arrived.number) return;
  Node& node = found->second;
  if (arrived.kind == set) return take_outcome(arrived, node);
  node.asks = false;
  if (!arrived.reply) return failed(arrived.node, node, arrived.reply.error().message);
  const auto bytes = arrived.reply->bytes();
  if (arrived.kind == get) return take_values(arrived, node);
  if (arrived.kind == describe) {
    if (auto about = read_descriptions(bytes)) node.about = std::move(*about);
    return ask(arrived.node, node, get, write_names(node.names));
  }
  auto names = read_listed(bytes);
  if (!names) return failed(arrived.node, node, "the reply is no list of names");
  if (names->size() > kMaxParams) {
    note(arrived.node, {Code::exhausted,
                        std::to_string(names->size()) + " parameters. The robot sees the first " +
                            std::to_string(kMaxParams),
                        arrived.node});
    names->resize(kMaxParams);
  }
  node.names = std::move(*names);
  ask(arrived.node, node, describe, write_names(node.names));
}

/// The next request follows after kRefresh.
void RosParams::failed(const std::string& name, Node& node, const std::string& why) {
  node.asked = monotonic_now();
  note(name, {Code::corrupt, "its parameters cannot be read: " + why, name});
}

void RosParams::take_outcome(const Arrived& arrived, Node& node) {
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
}

void RosParams::take_values(const Arrived& arrived, Node& node) {
  const auto values = read_values(arrived.reply->bytes());
  if (!values || values->size() != node.names.size()) {
    return failed(arrived.node, node, "the reply has other values");
  }
  std::map<std::string, ParamVariant> now;
  for (std::size_t i = 0; i < values->size(); ++i) {
    if ((*values)[i] && !node.newer.contains(node.names[i])) {
      now.emplace(node.names[i], *(*values)[i]);
    }
  }
  // An event may have overtaken the reply.
  for (const std::string& name : node.newer) {
    const auto newer = node.values.find(name);
    if (newer != node.values.end()) now.insert(*newer);
  }
  node.asked = std::exchange(node.again, false) ? Time() : monotonic_now();
  changed_ = changed_ || now != node.values;
  node.values = std::move(now);
}

void RosParams::take_events() {
  std::vector<ParamEvent> events;
  bool missed = false;
  {
    const MutexLock lock(inbox_->mutex);
    events.swap(inbox_->events);
    inbox_->event_bytes = 0;
    missed = std::exchange(inbox_->missed, false);
  }
  for (auto& [name, node] : ros_) {
    if (!missed) break;
    node.asked = {};
    node.again = node.asks;
  }
  for (ParamEvent& event : events) {
    const auto found = ros_.find(event.node);
    if (found == ros_.end()) continue;
    Node& node = found->second;
    for (auto* const params : {&event.appeared, &event.changed}) {
      for (auto& [name, value] : *params) {
        if (node.values.size() >= kMaxParams && !node.values.contains(name)) continue;
        if (node.asks) node.newer.insert(name);
        node.values.insert_or_assign(name, std::move(value));
      }
    }
    for (const std::string& name : event.deleted) {
      if (node.values.erase(name) > 0 && node.asks) node.newer.insert(name);
    }
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
  std::map<std::string, std::vector<std::string>> left_out;
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
      if (!wanted.emplace(name, shown).second) {
        left_out["the robot has another parameter '" + name + "'"].push_back(node_name + " " +
                                                                             param);
        continue;
      }
      const auto about = node.about.find(param);
      std::string text = "Parameter of ROS 2: " + node_name + " " + param;
      if (about != node.about.end() && !about->second.empty()) text += ". " + about->second;
      values.push_back({name, shown.value, is_news, description(text)});
    }
  }
  for (const auto& [name, why] : nodes_.show(values)) {
    left_out[why].push_back(wanted.at(name).node + " " + wanted.at(name).param);
    wanted.erase(name);
  }
  note_left_out(left_out);
  shown_ = std::move(wanted);
}

void RosParams::note_left_out(
    const std::map<std::string, std::vector<std::string>>& params_by_reason) {
  for (const auto& [why, params] : params_by_reason) {
    std::vector<std::string> news;
    for (const std::string& param : params) {
      if (noted_.size() < kMaxNoted && noted_.insert(param + " " + why).second) {
        news.push_back(param);
      }
    }
    if (news.empty()) continue;
    const std::string more =
        news.size() == 1 ? "" : " and " + std::to_string(news.size() - 1) + " more";
    context_.facade.clients().note(client_of("/parameters"), "unsupported",
                                   "parameter " + news.front() + more + " is left out: " + why);
  }
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
