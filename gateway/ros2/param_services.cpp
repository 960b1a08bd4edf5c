#include "gateway/ros2/param_services.hpp"

#include <array>
#include <map>
#include <set>

#include "base/mutex.hpp"
#include "gateway/ros2/names.hpp"
#include "gateway/ros2/node_graph.hpp"

namespace hyphos::gateway::ros2 {
namespace {

Result<Buffer> reply(std::vector<std::byte> bytes) { return Buffer::adopt(std::move(bytes)); }

Error no_request() {
  return {Code::corrupt, "the bytes are not a valid request of rcl_interfaces", {}};
}

/// Collects the outcomes of several parameters.
struct Outcomes {
  explicit Outcomes(std::size_t count) : outcomes(count), left(count) {}
  Mutex mutex;
  std::vector<ParamOutcome> outcomes HYPHOS_GUARDED_BY(mutex);
  std::size_t left HYPHOS_GUARDED_BY(mutex);
};

ParamOutcome outcome_of(const Result<void>& result) {
  return {result.ok(), result ? std::string() : result.error().to_string()};
}

constexpr std::string_view kEvents = "rt/parameter_events";
constexpr std::string_view kEventType = "rcl_interfaces::msg::dds_::ParameterEvent_";
/// Of rmw_qos_profile_parameter_events.
constexpr Qos kEventQos{.reliable = true, .transient_local = false, .depth = 1000};

constexpr const char* kSimTime = "use_sim_time";

/// Every node of ROS has this parameter.
std::shared_ptr<const ParamInfo> sim_time(bool is_simulated) {
  ParamInfo info;
  info.name = kSimTime;
  info.value = is_simulated;
  info.standard = false;
  info.description = "True if the gateway's process has clock: sim";
  info.read_only = true;
  return std::make_shared<const ParamInfo>(std::move(info));
}

/// "/left_arm" for the node "left-arm".
std::string ros_node(std::string_view node) {
  std::string name = ros_param(node, "");
  name.pop_back();  // '/'
  return name;
}

/// The names of the six services, and their types.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kServices = {{
    {"list_parameters", "ListParameters"},
    {"get_parameters", "GetParameters"},
    {"get_parameter_types", "GetParameterTypes"},
    {"describe_parameters", "DescribeParameters"},
    {"set_parameters", "SetParameters"},
    {"set_parameters_atomically", "SetParametersAtomically"},
}};

}  // namespace

ParamServices::ParamServices(const Context& context, ServicesOut& services)
    : context_(context),
      services_(services),
      sim_time_(sim_time(context.facade.has_simulated_time())),
      nodes_(context.facade.parameters().open(context.drain)),
      events_(context.participant, {}) {}

ParamServices::Split ParamServices::split(const std::string& robot_node, const std::string& name) {
  if (!robot_node.empty()) return {robot_node, name};
  const auto dot = name.find('.');
  if (dot == std::string::npos) return {};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

ParamServices::Infos ParamServices::all(const std::string& robot_node) const {
  Infos found = all_of(nodes_->all(), robot_node);
  if (robot_node.empty()) found.emplace(kSimTime, sim_time_);
  return found;
}

ParamServices::Infos ParamServices::all_of(const NodeParams::Sets& sets,
                                           const std::string& robot_node) const {
  Infos found;
  const auto add = [&](const std::string& node, const ParamSet& set) {
    for (const auto& info : set.infos()) {
      std::string name = node + "." + info->name;
      if (!context_.settings.params.match(name)) continue;
      found.emplace(robot_node.empty() ? std::move(name) : info->name, info);
    }
  };
  if (!robot_node.empty()) {
    const auto one = sets.find(robot_node);
    if (one != sets.end()) add(one->first, one->second);
    return found;
  }
  for (const auto& [node, set] : sets) add(node, set);
  return found;
}

void ParamServices::set(const std::string& robot_node, const std::vector<ParamWish>& wishes,
                        bool at_once, const Answer& answer) {
  const auto finish = [at_once, answer](const std::vector<ParamOutcome>& outcomes) {
    answer(reply(at_once ? write_outcome(outcomes.empty() ? ParamOutcome{true, ""} : outcomes[0])
                         : write_outcomes(outcomes)));
  };
  if (at_once && wishes.size() > 1) {
    return finish({{false, "the robot sets parameters one by one. Use set_parameters"}});
  }
  if (wishes.empty()) return finish({});
  const auto state = std::make_shared<Outcomes>(wishes.size());
  const auto done = [state, finish](std::size_t which, ParamOutcome outcome) {
    std::vector<ParamOutcome> whole;
    {
      const MutexLock lock(state->mutex);
      state->outcomes[which] = std::move(outcome);
      if (--state->left > 0) return;
      whole = state->outcomes;
    }
    finish(whole);
  };
  const auto known = all(robot_node);
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    const ParamWish& wish = wishes[i];
    if (!known.contains(wish.name)) {
      done(i, {false, "the robot has no parameter '" + wish.name + "'"});
    } else if (known.at(wish.name) == sim_time_) {
      done(i, {false, "the clock of the gateway's process decides. Set clock: sim in the plan"});
    } else if (!wish.value) {
      done(i, {false, "a parameter of the robot cannot be deleted. Set a value"});
    } else {
      const auto [node, param] = split(robot_node, wish.name);
      nodes_->set(node, param, *wish.value,
                  [done, i](const Result<void>& result) { done(i, outcome_of(result)); });
    }
  }
}

void ParamServices::serve(const std::string& service, const std::string& type, Handler handler) {
  if (!refused_.may_try(service) || services_.serves(service)) return;
  const auto opened = services_.serve(service, "rcl_interfaces/srv/" + type, std::move(handler));
  if (!opened && refused_.failed(service)) {
    context_.facade.clients().note(client_of(service), to_string(opened.error().code),
                                   "the service is left out: " + opened.error().to_string());
  }
}

void ParamServices::look(const DomainState& state) {
  nodes_->look();
  serve_all(context_.settings.node, "");
  follow_nodes(state);
  publish_events();
}

void ParamServices::follow_nodes(const DomainState& state) {
  std::set<std::string> of_ros;
  for (const auto& [service, offer] : offered_services(state)) {
    of_ros.insert(service.substr(0, service.rfind('/')));
  }
  const NodeParams::Sets sets = nodes_->all();
  std::map<std::string, std::string> wanted;
  // Offered nodes stay. Otherwise two gateways of a robot would withdraw them for each other, and a
  // new node could displace an old one.
  for (const auto& [name, node] : offered_) {
    if (sets.contains(node)) wanted.emplace(name, node);
  }
  for (const auto& [node, set] : sets) {
    const std::string name = ros_node(node);
    if (wanted.contains(name) || !may_offer(name, of_ros)) continue;
    if (wanted.size() >= kMaxNodes) {
      if (!std::exchange(is_full_, true)) {
        context_.facade.clients().note(
            client_of(name), "exhausted",
            "the node is left out: at most " + std::to_string(kMaxNodes) +
                " nodes of the robot become nodes of ROS. Select them with param_nodes. Node " +
                context_.settings.node + " has all parameters");
      }
      continue;
    }
    wanted.emplace(name, node);
  }
  for (const auto& [name, node] : offered_) {
    const auto now = wanted.find(name);
    if (now != wanted.end() && now->second == node) continue;
    for (const auto& [service, type] : kServices) {
      services_.withdraw(name + "/" + std::string(service));
    }
  }
  offered_ = std::move(wanted);
  for (const auto& [name, node] : offered_) serve_all(name, node);
}

bool ParamServices::may_offer(const std::string& name, const std::set<std::string>& of_ros) const {
  return is_name(name) && name != context_.settings.node && !of_ros.contains(name) &&
         context_.settings.param_nodes.match(name);
}

std::set<std::string> ParamServices::ros_names() const {
  // A second gateway of the robot may offer the node of this one.
  std::set<std::string> names{context_.settings.node, ros_node(nodes_->node())};
  for (const auto& [node, set] : nodes_->all()) names.insert(ros_node(node));
  return names;
}

std::vector<NodeEntities> ParamServices::robot_nodes() const {
  std::vector<NodeEntities> nodes;
  for (const auto& [name, node] : offered_) {
    const auto [name_space, base] = split_node(name);
    NodeEntities entities{name_space, base, {}, {}};
    for (const auto& [service, type] : kServices) {
      services_.add_endpoints(name + "/" + std::string(service), entities);
    }
    nodes.push_back(std::move(entities));
  }
  return nodes;
}

void ParamServices::publish_events() {
  if (!has_events_ && refused_.may_try("parameter_events")) {
    const auto opened = events_.open(
        {std::string(kEvents), std::string(kEventType), kEventQos,
         user_data_of_type(context_.facade.types(), "rcl_interfaces/msg/ParameterEvent")});
    has_events_ = opened.ok();
    if (!opened && refused_.failed("parameter_events")) {
      context_.facade.clients().note(client_of("/parameter_events"), to_string(opened.error().code),
                                     "events are left out: " + opened.error().to_string());
    }
  }
  const NodeParams::Sets sets = nodes_->all();
  std::map<std::string, Infos> now;
  now.emplace(context_.settings.node, all_of(sets, ""));
  for (const auto& [name, node] : offered_) now.emplace(name, all_of(sets, node));
  for (const auto& [name, infos] : now) {
    ParamEvent event;
    event.node = name;
    const Infos& old = before_[name];
    for (const auto& [param, info] : infos) {
      const auto known = old.find(param);
      if (known == old.end()) {
        event.appeared.emplace_back(param, info->value);
      } else if (known->second != info && known->second->value != info->value) {
        event.changed.emplace_back(param, info->value);
      }
    }
    for (const auto& [param, info] : old) {
      if (!infos.contains(param)) event.deleted.push_back(param);
    }
    if (!event.empty()) publish(event);
  }
  before_ = std::move(now);
}

void ParamServices::publish(const ParamEvent& event) {
  if (!has_events_) return;
  const auto sent = events_.write(write_event(event, wall_now()));
  if (sent) return;
  context_.facade.clients().count(client_of("/parameter_events"), to_string(sent.error().code),
                                  sent.error().message);
}

void ParamServices::serve_all(const std::string& ros_node, const std::string& robot_node) {
  const std::string before = ros_node + "/";
  serve(before + "list_parameters", "ListParameters",
        [this, robot_node](auto request, const Answer& answer) {
          const auto asked = read_listing(request);
          if (!asked) return answer(no_request());
          std::vector<std::string> names;
          for (const auto& [name, info] : all(robot_node)) names.push_back(name);
          answer(reply(write_listing(names, *asked)));
        });
  serve(before + "get_parameters", "GetParameters",
        [this, robot_node](auto request, const Answer& answer) {
          const auto names = read_names(request);
          if (!names) return answer(no_request());
          const auto known = all(robot_node);
          std::vector<std::optional<ParamVariant>> values;
          for (const std::string& name : *names) {
            const auto found = known.find(name);
            values.push_back(found == known.end() ? std::optional<ParamVariant>()
                                                  : found->second->value);
          }
          answer(reply(write_values(values)));
        });
  serve(before + "get_parameter_types", "GetParameterTypes",
        [this, robot_node](auto request, const Answer& answer) {
          const auto names = read_names(request);
          if (!names) return answer(no_request());
          const auto known = all(robot_node);
          std::vector<std::uint8_t> types;
          for (const std::string& name : *names) {
            const auto found = known.find(name);
            types.push_back(found == known.end() ? std::uint8_t{0}
                                                 : param_type(found->second->value));
          }
          answer(reply(write_types(types)));
        });
  serve(before + "describe_parameters", "DescribeParameters",
        [this, robot_node](auto request, const Answer& answer) {
          const auto names = read_names(request);
          if (!names) return answer(no_request());
          const auto known = all(robot_node);
          std::vector<const ParamInfo*> infos;
          for (const std::string& name : *names) {
            const auto found = known.find(name);
            infos.push_back(found == known.end() ? nullptr : found->second.get());
          }
          answer(reply(write_descriptions(*names, infos)));
        });
  for (const bool at_once : {false, true}) {
    serve(before + (at_once ? "set_parameters_atomically" : "set_parameters"),
          at_once ? "SetParametersAtomically" : "SetParameters",
          [this, robot_node, at_once](auto request, const Answer& answer) {
            const auto wishes = read_wishes(request);
            if (!wishes) return answer(no_request());
            set(robot_node, *wishes, at_once, answer);
          });
  }
}

}  // namespace hyphos::gateway::ros2
