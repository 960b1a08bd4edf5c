// Changes of groups over several processes. A request goes to the coordinator of the group: the
// first of its processes that replies. Changes of one group therefore never overlap. The
// coordinator asks each process of the group for its part.
#include "node/runtime/group_service.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/config.hpp"
#include "hyphos/control/control.pb.h"
#include "hyphos/inspect.hpp"
#include "hyphos/service.hpp"
#include "node/runtime/runtime_impl.hpp"
#include "plan/names.hpp"

namespace hyphos {
namespace {

using control::v1::ChangeGroup;
using State = control::v1::GroupState;
using Action = GroupChange::Action;

enum Step : std::uint8_t { request, coordinate, here };

constexpr std::int64_t kServerWaitMs = 2'000;  // for a process of another machine to be found

Duration milliseconds(std::int64_t count) { return {count * 1'000'000}; }

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

Error unknown(const std::string& what, const std::string& name,
              const std::vector<std::string>& known, const std::string& where) {
  const std::vector<std::string_view> words(known.begin(), known.end());
  const std::string near(config::nearest(name, words));
  return {Code::not_found,
          what + (near.empty() ? "" : ". Did you mean '" + near + "'?") +
              (known.empty() ? "" : " Known: " + joined(known)),
          where};
}

/// The processes in which nodes of the group can run, in a fixed order.
std::vector<std::string> processes_of(const Plan& plan, const GroupPlan& group) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const std::string& node : group.nodes) add(plan.node(node)->process);
  for (const std::string& target : group.moves_to) add(target);
  return names;
}

/// True for a process of this machine that does not run. Saves the wait for its service.
bool is_absent(const std::string& process, const Runtime::Impl& runtime) {
  const Plan& plan = *runtime.plan();
  if (plan.process(process)->host != plan.process(runtime.options().process)->host) return false;
  const auto processes = inspect(runtime.domain());
  return processes && std::none_of(processes->begin(), processes->end(),
                                   [&](const ProcessInfo& one) { return one.name == process; });
}

/// Asks one process. Errors: not_found if it does not run.
Result<State> ask(const Node& node, const std::string& process, ChangeGroup change, Step step,
                  std::int64_t deadline_ns) {
  const std::int64_t left_ms = (deadline_ns - monotonic_now().ns) / 1'000'000;
  if (left_ms <= 0)
    return Error{Code::timeout, "no time is left for process '" + process + "'", process};
  change.set_step(step);
  change.set_timeout_ms(static_cast<std::uint32_t>(
      std::min<std::int64_t>(left_ms, std::numeric_limits<std::uint32_t>::max())));
  try {
    const auto client = node.client<ChangeGroup, State>(plan::group_service(process));
    if (!client.wait_for_server(milliseconds(std::min(left_ms, kServerWaitMs)))) {
      return Error{Code::not_found,
                   "process '" + process + "' does not run, or runs without this plan", process};
    }
    auto reply = client.call(std::move(change), milliseconds(left_ms));
    if (!reply) return reply.error();
    return std::move(*reply);
  } catch (const Exception& error) {
    return error.error();
  }
}

/// Holds a flag of the process, so that its changes do not overlap.
class Changing {
 public:
  explicit Changing(std::atomic<bool>& flag) : flag_(flag), alone_(!flag.exchange(true)) {}
  Changing(const Changing&) = delete;
  Changing& operator=(const Changing&) = delete;
  ~Changing() {
    if (alone_) flag_.store(false);
  }
  [[nodiscard]] bool alone() const { return alone_; }
  static Error error(const std::string& process) {
    return {Code::overloaded,
            "another change of a group is in progress in process '" + process + "'. Repeat it",
            process};
  }

 private:
  std::atomic<bool>& flag_;
  const bool alone_;
};

/// The part of a change in this process.
class Member {
 public:
  Member(Runtime::Impl& runtime, const GroupPlan& group) : runtime_(runtime), group_(group) {}

  Result<State> change(const ChangeGroup& change) {
    const auto action = static_cast<Action>(change.action());
    State state;
    if (action == Action::start || action == Action::stop) {
      const Changing mine(runtime_.changing_members());
      if (!mine.alone()) return Changing::error(runtime_.options().process);
      auto done = action == Action::start ? runtime_.start_group_here(group_)
                                          : runtime_.stop_group_here(group_);
      if (!done) return done.error();
    } else if (action == Action::open || action == Action::close) {
      const bool open = action == Action::open;
      auto changed = runtime_.open_group_here(group_, open, static_cast<Where>(change.places()));
      if (!changed) return changed.error();
      for (const auto& [name, places] : *changed) {
        State::Channel& channel = *state.add_channels();
        channel.set_process(runtime_.options().process);
        channel.set_channel(name);
        channel.set_places(static_cast<std::uint32_t>(places));
      }
    }
    for (const std::string& name : group_.nodes) {
      if (!runtime_.plan()->may_run(*runtime_.plan()->node(name), runtime_.options().process)) {
        continue;
      }
      State::Node& node = *state.add_nodes();
      node.set_group(group_.name);
      node.set_node(name);
      node.set_process(runtime_.options().process);
      node.set_running(runtime_.runs(name));
      node.set_reachable(true);
    }
    return state;
  }

 private:
  Runtime::Impl& runtime_;
  const GroupPlan& group_;
};

/// Makes one change of a group in all its processes.
class Coordinator {
 public:
  Coordinator(const Node& node, Runtime::Impl& runtime, const GroupPlan& group,
              std::int64_t deadline_ns)
      : node_(node),
        runtime_(runtime),
        group_(group),
        processes_(processes_of(*runtime.plan(), group)),
        deadline_ns_(deadline_ns) {}

  Result<State> change(const ChangeGroup& change) {
    const auto action = static_cast<Action>(change.action());
    if (action == Action::move) return move(change.process());
    State made;
    const std::vector<std::string> asked = action == Action::start ? places() : processes_;
    for (const std::string& process : asked) {
      auto part = step(process, change);
      if (part) {
        made.mutable_channels()->MergeFrom(part->channels());
      } else if (part.error().code != Code::not_found || action == Action::start) {
        return part.error();
      }
    }
    State state = look();
    state.mutable_channels()->Swap(made.mutable_channels());
    return state;
  }

  /// The nodes of the group, each in the process in which it runs, or else would run.
  State look() {
    std::set<std::string> absent;
    return look(absent);
  }

  /// The same. `absent`: processes that are known not to reply, and more of them afterwards.
  State look(std::set<std::string>& absent) {
    State state;
    std::vector<State> parts;
    std::set<std::string> reachable;
    for (const std::string& process : processes_) {
      if (absent.contains(process)) continue;
      auto part = step(process, changed(Action::look));
      if (!part) {
        absent.insert(process);
        continue;
      }
      reachable.insert(process);
      parts.push_back(std::move(*part));
    }
    for (const std::string& name : group_.nodes) {
      const std::string& home = runtime_.plan()->node(name)->process;
      State::Node found;
      found.set_group(group_.name);
      found.set_node(name);
      found.set_process(home);
      found.set_reachable(reachable.contains(home));
      for (const State& part : parts) {
        for (const State::Node& one : part.nodes()) {
          if (one.node() == name && one.running()) found = one;
        }
      }
      *state.add_nodes() = found;
    }
    return state;
  }

 private:
  /// The processes in which the nodes run, or else would run.
  std::vector<std::string> places() {
    std::set<std::string> running;
    std::set<std::string> all;
    const State now = look();
    for (const State::Node& node : now.nodes()) {
      all.insert(node.process());
      if (node.running()) running.insert(node.process());
    }
    // A group that moves is in one process.
    const auto& chosen = running.empty() || group_.moves_to.empty() ? all : running;
    return {chosen.begin(), chosen.end()};
  }

  [[nodiscard]] ChangeGroup changed(Action action) const {
    ChangeGroup change;
    change.set_group(group_.name);
    change.set_action(static_cast<std::uint32_t>(action));
    return change;
  }

  Result<State> step(const std::string& process, const ChangeGroup& change) {
    if (process == runtime_.options().process) return Member(runtime_, group_).change(change);
    if (is_absent(process, runtime_)) {
      return Error{Code::not_found, "process '" + process + "' does not run", process};
    }
    return ask(node_, process, change, here, deadline_ns_);
  }

  Result<State> move(const std::string& target) {
    if (std::find(processes_.begin(), processes_.end(), target) == processes_.end() ||
        group_.process.empty()) {
      return unknown("group '" + group_.name + "' cannot move to process '" + target +
                         "', which the plan must name under groups." + group_.name + ".moves_to",
                     target, group_.moves_to.empty() ? group_.moves_to : processes_,
                     group_.source.to_string());
    }
    auto there = step(target, changed(Action::look));
    if (!there) return not_moved(there.error(), target);
    std::string before;
    for (const std::string& process : processes_) {
      if (process == target) continue;
      const auto now = step(process, changed(Action::look));
      if (!now && now.error().code == Code::not_found) continue;
      if (!now) return not_moved(now.error(), target);
      const auto& nodes = now->nodes();
      const bool ran = std::any_of(nodes.begin(), nodes.end(),
                                   [](const State::Node& node) { return node.running(); });
      if (ran) before = process;
      // A process that has died meanwhile runs no node.
      if (auto stopped = step(process, changed(Action::stop));
          !stopped && stopped.error().code != Code::disconnected) {
        return not_moved(stopped.error(), target);
      }
    }
    if (auto started = step(target, changed(Action::start)); !started) {
      return back(started.error(), target, before);
    }
    // It may have been restarted before the group was here.
    for (const std::string& process : processes_) {
      if (process != target) (void)!step(process, changed(Action::stop));
    }
    return look();
  }

  [[nodiscard]] Error not_moved(Error error, const std::string& target) const {
    error.message =
        "group '" + group_.name + "' did not move to process '" + target + "': " + error.message;
    return error;
  }

  /// After a failed start in `target`: starts the group where it ran. Not after a timeout, because
  /// it may still start in `target`, and would then run twice.
  Error back(Error error, const std::string& target, const std::string& before) {
    error = not_moved(std::move(error), target);
    if (before.empty()) return error;
    if (error.code == Code::timeout) {
      error.message += ". It ran in process '" + before + "' and may still start in '" + target +
                       "': see `hyphos group list`";
    } else if (const auto again = step(before, changed(Action::start)); again) {
      error.message += ". It runs in process '" + before + "' again";
    } else {
      error.message +=
          ". It could not start in process '" + before + "' again: " + again.error().message;
    }
    return error;
  }

  const Node& node_;
  Runtime::Impl& runtime_;
  const GroupPlan& group_;
  const std::vector<std::string> processes_;
  const std::int64_t deadline_ns_;
};

class Server {
 public:
  explicit Server(Runtime::Impl& runtime) : runtime_(runtime) {}

  Result<State> answer(const ChangeGroup& change) const {
    if (change.action() > static_cast<std::uint32_t>(Action::close) ||
        change.places() > static_cast<std::uint32_t>(Where::both)) {
      return Error{Code::unsupported, "the request is from a newer version of Hyphos",
                   change.group()};
    }
    const auto node = runtime_.own_node();
    if (!node) return Error{Code::not_found, "the process starts or ends", change.group()};
    const std::int64_t deadline_ns = (monotonic_now() + milliseconds(change.timeout_ms())).ns;
    if (change.group().empty() && static_cast<Action>(change.action()) == Action::look) {
      return look_at_all(*node, deadline_ns);
    }
    const GroupPlan* const group = runtime_.plan()->group(change.group());
    if (group == nullptr) return no_group(change.group());
    if (change.step() == here) return Member(runtime_, *group).change(change);
    if (static_cast<Action>(change.action()) == Action::look) {
      return Coordinator(*node, runtime_, *group, deadline_ns).look();
    }
    if (change.step() == coordinate) return coordinated(*node, *group, change, deadline_ns);
    const std::vector<std::string> processes = processes_of(*runtime_.plan(), *group);
    for (const std::string& process : processes) {
      if (process == runtime_.options().process) {
        return coordinated(*node, *group, change, deadline_ns);
      }
      if (is_absent(process, runtime_)) continue;
      auto state = ask(*node, process, change, coordinate, deadline_ns);
      const bool absent =
          !state && state.error().code == Code::not_found && state.error().where == process;
      if (!absent) return state;
    }
    return Error{Code::not_found,
                 "no process of group '" + group->name + "' runs: " + joined(processes),
                 group->name};
  }

 private:
  Result<State> coordinated(const Node& node, const GroupPlan& group, const ChangeGroup& change,
                            std::int64_t deadline_ns) const {
    const Changing mine(runtime_.changing_groups());
    if (!mine.alone()) return Changing::error(runtime_.options().process);
    return Coordinator(node, runtime_, group, deadline_ns).change(change);
  }

  [[nodiscard]] State look_at_all(const Node& node, std::int64_t deadline_ns) const {
    State all;
    std::set<std::string> absent;
    for (const GroupPlan& group : runtime_.plan()->groups) {
      all.MergeFrom(Coordinator(node, runtime_, group, deadline_ns).look(absent));
    }
    return all;
  }

  [[nodiscard]] Error no_group(const std::string& name) const {
    std::vector<std::string> known;
    for (const GroupPlan& group : runtime_.plan()->groups) known.push_back(group.name);
    return unknown("the plan has no group '" + name + "'", name, known, runtime_.plan()->file);
  }

  Runtime::Impl& runtime_;
};

GroupState state_of(const State& state) {
  GroupState out;
  for (const State::Node& node : state.nodes()) {
    out.nodes.push_back(
        {node.group(), node.node(), node.process(), node.running(), node.reachable()});
  }
  for (const State::Channel& channel : state.channels()) {
    const auto places = channel.places() & static_cast<std::uint32_t>(Where::both);
    out.channels.push_back({channel.process(), channel.channel(), static_cast<Where>(places)});
  }
  return out;
}

}  // namespace

Result<void> control::serve_groups(const Node& node, Runtime::Impl& runtime) {
  const Server server(runtime);
  try {
    // Concurrent: while a change waits for other processes, these may ask this one for its part.
    (void)node.service<ChangeGroup, State>(
        plan::group_service(runtime.options().process), {.mode = concurrent},
        [server](const ChangeGroup& change) { return server.answer(change); });
  } catch (const Exception& error) {
    return error.error();
  }
  return success();
}

Result<GroupState> Node::change_group(const std::string& process, const GroupChange& change,
                                      Duration timeout) const {
  ChangeGroup request_;
  request_.set_group(change.group);
  request_.set_action(static_cast<std::uint32_t>(change.action));
  request_.set_process(change.process);
  request_.set_places(static_cast<std::uint32_t>(change.where));
  auto state = ask(*this, process, std::move(request_), request, (monotonic_now() + timeout).ns);
  if (!state) return state.error();
  return state_of(*state);
}

std::optional<Node> Runtime::Impl::own_node() {
  const MutexLock lock(mutex_);
  return own_node_;
}

Result<GroupState> Runtime::Impl::change_group(const GroupChange& change, Duration timeout) {
  if (auto good = usable(); !good) return good.error();
  const std::optional<Node> own = own_node();
  if (!own || plan_->groups.empty()) {
    return Error{Code::unsupported,
                 "groups need a plan with `groups:`, and ready() or spin() before the call",
                 change.group};
  }
  return own->change_group(options_.process, change, timeout);
}

Result<GroupState> Runtime::start_group(const std::string& group, Duration timeout) const {
  return impl_->change_group({group, GroupChange::Action::start}, timeout);
}
Result<GroupState> Runtime::stop_group(const std::string& group, Duration timeout) const {
  return impl_->change_group({group, GroupChange::Action::stop}, timeout);
}
Result<GroupState> Runtime::move_group(const std::string& group, const std::string& process,
                                       Duration timeout) const {
  return impl_->change_group({group, GroupChange::Action::move, process}, timeout);
}
Result<GroupState> Runtime::set_group_open(const std::string& group, bool open, Where where,
                                           Duration timeout) const {
  const auto action = open ? GroupChange::Action::open : GroupChange::Action::close;
  return impl_->change_group({group, action, {}, where}, timeout);
}
Result<GroupState> Runtime::group_state(const std::string& group, Duration timeout) const {
  return impl_->change_group({group}, timeout);
}
bool Runtime::hosts(const std::string& node) const {
  const Plan* const plan = impl_->plan();
  const NodePlan* const planned = plan == nullptr ? nullptr : plan->node(node);
  return planned != nullptr && impl_->hosts(*planned);
}
void Runtime::set_node_host(std::function<std::string(const std::string&, bool)> host) {
  impl_->set_node_host(std::move(host));
}

}  // namespace hyphos
