#include "gateway/ros1/params.hpp"

#include <utility>
#include <vector>

#include "gateway/ros1/left_out.hpp"
#include "gateway/ros1/param_value.hpp"

namespace hyphos::gateway::ros1 {

ParamsIn::ParamsIn(const Context& context, NodeParams& nodes, ServerParams& server,
                   const ParamsOut& out, Patterns which)
    : context_(context), nodes_(nodes), server_(server), out_(out), which_(std::move(which)) {}

void ParamsIn::send() {
  const ParamSet own = nodes_.own();
  for (auto& [name, shown] : shown_) {
    const ParamInfo* info = own.find(name);
    if (info == nullptr || info->value == shown.value) continue;
    const auto value = to_ros(info->value);
    shown.is_refused = !value;
    if (!value) {
      report({{value.error().message, {shown.name}}});
      continue;
    }
    shown.value = info->value;
    server_.set(shown.name, *value);
  }
}

std::map<std::string, ParamsIn::Shown> ParamsIn::gather(Reasons& left_out) const {
  std::map<std::string, const Value*> leaves;
  if (const Value* all = server_.tree().get("/")) collect_leaves(*all, "", leaves);
  // Skips parameters of this gateway that another gateway of the robot wrote here, so that they do
  // not return as new ones.
  const std::string mine = ros_param(nodes_.node(), "");
  std::map<std::string, Shown> wanted;
  for (const auto& [name, value] : leaves) {
    if (out_.has(name) || name.starts_with(mine) || !which_.match(name)) continue;
    auto made = from_ros(*value);
    if (!made) {
      left_out[made.error().message].push_back(name);
      continue;
    }
    wanted.emplace(dotted(name), Shown{name, std::move(*made)});
  }
  return wanted;
}

void ParamsIn::show() {
  Reasons left_out;
  std::map<std::string, Shown> wanted = gather(left_out);
  std::vector<ShownParam> values;
  for (const auto& [name, shown] : wanted) {
    const auto before = shown_.find(name);
    const bool is_same = before != shown_.end() && before->second.value == shown.value;
    values.push_back({name, shown.value, !is_same || before->second.is_refused,
                      std::string(kOfRos1) + shown.name});
  }
  for (const auto& [name, why] : nodes_.show(values)) {
    left_out[why].push_back(wanted.at(name).name);
    wanted.erase(name);
  }
  report(left_out);
  shown_ = std::move(wanted);
}

// Logs one line per reason, for any number of names.
void ParamsIn::report(const Reasons& left_out) {
  for (const auto& [why, names] : left_out) {
    std::vector<std::string> news;
    for (const std::string& name : names) {
      if (logged_.first(name + " " + why)) news.push_back(name);
    }
    if (news.empty()) continue;
    const std::string more =
        news.size() == 1 ? "" : " and " + std::to_string(news.size() - 1) + " more";
    report_left_out(context_, logged_, "ROS parameter", news.front() + more,
                    {Code::unsupported, why, ""});
  }
}

JoinedParams::JoinedParams(const Context& context, net::Loop& calls, const Member& member,
                           const Patterns& of_nodes, const Patterns& of_ros)
    : calls_(calls),
      off_(of_nodes.empty() && of_ros.empty()),
      nodes_(context.facade.parameters().open([this] {
        if (!come_.exchange(true)) calls_.post([this] { robot_changed(); });
      })),
      server_(member, [this](const std::string& name) { server_changed(name); }),
      out_(context, calls, *nodes_, server_, of_nodes),
      in_(context, *nodes_, server_, out_, of_ros) {}

void JoinedParams::look() {
  if (off_ || stopped_) return;
  nodes_->look();
  out_.look();
  show_soon();
  server_.look(out_.any());
}

void JoinedParams::update(const std::string& name, const Value& value) {
  if (!off_ && !stopped_) server_.update(name, value);
}

void JoinedParams::robot_changed() {
  come_ = false;
  if (off_ || stopped_) return;
  out_.look();
  if (server_.known()) in_.send();
}

void JoinedParams::server_changed(const std::string& name) {
  if (stopped_) return;
  out_.changed(name);
  show_soon();
}

void JoinedParams::show_soon() {
  if (std::exchange(showing_soon_, true)) return;
  showing_ = calls_.after(kGather, [this] {
    showing_soon_ = false;
    if (stopped_ || !server_.known()) return;
    in_.send();
    in_.show();
  });
}

void JoinedParams::stop() {
  if (std::exchange(stopped_, true)) return;
  showing_ = {};
  if (!off_) {
    out_.stop();
    server_.stop();
  }
  nodes_.reset();  // its callback posts to the call thread
}

}  // namespace hyphos::gateway::ros1
