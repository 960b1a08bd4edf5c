#include "graph/graph.hpp"

#include <algorithm>
#include <exception>

#include "base/config.hpp"
#include "graph/channel_publisher.hpp"
#include "graph/subscriber.hpp"
#include "hyphos/plan.hpp"

namespace hyphos::graph {
namespace {

/// A hundred years. A longer time would overflow the arithmetic in nanoseconds.
constexpr std::int64_t kLongestMs = 36'500LL * 86'400'000;

std::string policy_problem(const Policy& policy) {
  if (policy.depth < 1 || policy.deadline_ms < 0 || policy.block_timeout_ms < 0) {
    return "a depth of at least 1, and a deadline and a timeout of 0 or more";
  }
  if (policy.lifespan_ms < 0) return "a lifespan of 0 (no limit) or more";
  if (policy.latched_depth < 1 || policy.latched_depth > kMaxLatchedDepth) {
    return "a latched_depth of 1 to " + std::to_string(kMaxLatchedDepth);
  }
  return {};
}

}  // namespace

Graph::Graph(int threads, std::shared_ptr<trace::Registry> registry, Rules rules, bool one_by_one,
             std::shared_ptr<detail::ClockCore> clock, TypeDefinitions::Publish publish)
    : registry_(std::move(registry)),
      rules_(std::move(rules)),
      definitions_(std::move(publish)),
      executor_(threads, one_by_one),
      timers_(executor_,
              clock ? std::move(clock) : std::make_shared<detail::ClockCore>(ClockMode::real),
              one_by_one),
      timeouts_(executor_, std::make_shared<detail::ClockCore>(ClockMode::real)) {}

Graph::~Graph() {
  stop(0);
  transports_.clear();
}

void Graph::add_transport(std::shared_ptr<transport::Transport> transport) {
  if (auto poll = transport->receive_by_polling()) executor_.serve(std::move(poll));
  transports_.push_back(std::move(transport));
}

transport::Transport* Graph::transport(std::string_view name) const {
  for (const auto& transport : transports_) {
    if (transport->name() == name) return transport.get();
  }
  return nullptr;
}

Result<std::shared_ptr<Channel>> Graph::internal_channel(const std::string& name,
                                                         const TypeSupport& type,
                                                         const Policy& policy) {
  auto opened = channel(name, type, policy, End::call);
  if (!opened) return opened.error();
  return std::move(opened->channel);
}

bool Graph::fits(const Channel& there, const TypeId& type, const Policy& wanted, End end) {
  if (there.in_use()) return true;
  if (!(there.type() == type)) return false;
  return there.policy() == wanted || (end != End::publisher && there.keeps_messages());
}

Result<void> Graph::check_type(const std::string& name, const TypeId& type,
                               const ChannelRules& rules, const std::string& node) {
  if (rules.type.empty() || rules.type == type.name) return success();
  const auto last_word = [](std::string_view whole) {
    return whole.substr(whole.find_last_of(".:") + 1);  // the whole name without either
  };
  const std::string_view there[] = {last_word(type.name)};
  const bool near = !config::nearest(last_word(rules.type), there).empty();
  return Error{Code::type_mismatch,
               "channel '" + name + "' carries " + rules.type + " by the plan, but node '" + node +
                   "' uses " + type.name + " (" + std::string(to_string(type.encoding)) + "). " +
                   (near ? "Did you mean '" + type.name + "' in the plan?"
                         : "Correct the type in the plan, or the node"),
               rules.where};
}

Result<Graph::Opened> Graph::channel(const std::string& name, const TypeSupport& type,
                                     const Policy& wish, End end, const std::string& node) {
  const MutexLock lock(mutex_);
  if (stopped_) return Error{Code::disconnected, "the runtime has been stopped", name};
  ChannelRules rules = rules_(name, wish);
  if (auto fits = check_type(name, type.id, rules, node); !fits) return fits.error();
  const auto found = channels_.find(name);
  if (found != channels_.end() && found->second.channel->in_use() &&
      !(found->second.channel->type() == type.id)) {
    const TypeId& there = found->second.channel->type();
    return Error{Code::type_mismatch,
                 "channel '" + name + "' carries " + there.name + " (" +
                     std::string(to_string(there.encoding)) + ") in this process, but " +
                     (node.empty() ? "this call" : "node '" + node + "'") + " uses " +
                     type.id.name + " (" + std::string(to_string(type.id.encoding)) +
                     "). Use one type in both, or two names",
                 name};
  }
  if (std::string problem = end == End::call ? std::string() : channel_name_problem(name);
      !problem.empty()) {
    return Error{Code::invalid_config, std::move(problem), name};
  }
  if (const std::string problem = policy_problem(rules.policy); !problem.empty()) {
    return Error{Code::invalid_config, "the policy of channel '" + name + "' needs " + problem,
                 name};
  }
  rules.policy.deadline_ms = std::min(rules.policy.deadline_ms, kLongestMs);
  rules.policy.block_timeout_ms = std::min(rules.policy.block_timeout_ms, kLongestMs);
  rules.policy.lifespan_ms = std::min(rules.policy.lifespan_ms, kLongestMs);
  std::shared_ptr<Channel> channel;
  if (found == channels_.end()) {
    drop_unused();
    channel = make(name, type, rules);
    channels_.emplace(name, Entry{channel, rules.planned});
  } else if (fits(*found->second.channel, type.id, rules.policy, end)) {
    channel = found->second.channel;
  } else {
    channel = make(name, type, rules);
    if (found->second.held) channel->set_open(found->second.channel->open_places());
    found->second.channel = channel;
  }
  // Counted under the lock, so that a channel found unused under the lock stays unused.
  channel->use();
  const std::shared_ptr<void> use(nullptr, [channel](void*) { channel->unuse(); });
  return Opened{{use, channel.get()}, rules.policy.latched ? rules.policy.latched_depth : 0};
}

std::shared_ptr<Channel> Graph::make(const std::string& name, const TypeSupport& type,
                                     const ChannelRules& rules) {
  std::vector<TransportBinding> bindings;
  const auto add = [&](const std::string& wanted, bool tools_only) {
    if (transport::Transport* transport = this->transport(wanted); transport != nullptr) {
      bindings.push_back({transport, registry_->transport_index(wanted), tools_only});
    }
  };
  for (const std::string& wanted : rules.transports) add(wanted, false);
  if (!rules.tools_only.empty()) add(rules.tools_only, true);
  auto made = std::make_shared<Channel>(name, type, rules.policy, std::move(bindings), registry_,
                                        executor_);
  made->set_open(rules.open);
  if (rules.policy.deadline_ms > 0) made->watch_deadline(timers_);
  return made;
}

void Graph::drop_unused() {
  std::vector<std::pair<std::int64_t, std::string>> kept;
  std::erase_if(channels_, [&](const auto& one) {
    const auto& [name, entry] = one;
    if (entry.held || entry.channel->in_use()) return false;
    if (!entry.channel->keeps_messages()) return true;
    kept.emplace_back(entry.channel->unused_since(), name);
    return false;
  });
  if (kept.size() <= kMostKept) return;
  std::sort(kept.begin(), kept.end());
  kept.resize(kept.size() - kMostKept);
  for (const auto& [since, name] : kept) channels_.erase(name);
}

namespace {

/// A type that stays in the process has ports, so that an endpoint outside gets a clear error.
bool reaches_out(const TypeSupport& type, Scope scope) {
  return scope == Scope::network || type.id.encoding == Encoding::none;
}

}  // namespace

Result<std::shared_ptr<detail::PublisherCore>> Graph::publisher(const std::string& name,
                                                                const TypeSupport& type,
                                                                const Policy& wish, Scope scope,
                                                                const std::string& node) {
  auto opened = channel(name, type, wish, End::publisher, node);
  if (!opened) return opened.error();
  definitions_.add(type.definition);
  return opened->channel->add_publisher(type, reaches_out(type, scope), node, opened->latched);
}

Result<std::shared_ptr<Subscriber>> Graph::subscribe(
    const std::string& name, const TypeSupport& type, const Policy& wish, Scope scope, Mode mode,
    bool raw, const std::string& node, detail::Callback callback, std::function<void()> ready,
    std::shared_ptr<Group> group) {
  auto opened = channel(name, type, wish, End::subscriber, node);
  if (!opened) return opened.error();
  definitions_.add(type.definition);
  return opened->channel->add_subscriber(type, mode, raw ? View::envelope : View::value,
                                         reaches_out(type, scope), node, std::move(callback),
                                         std::move(ready), std::move(group));
}

Result<void> Graph::with_channel(const std::string& name,
                                 const std::function<void(Channel&)>& work) {
  const MutexLock lock(mutex_);
  const auto found = channels_.find(name);
  if (found == channels_.end()) {
    std::string known;
    for (const auto& [other, entry] : channels_) known += (known.empty() ? "" : ", ") + other;
    return Error{Code::not_found, "no channel '" + name + "' in this process, there are: " + known,
                 name};
  }
  work(*found->second.channel);
  found->second.held = true;
  return success();
}

bool Graph::is_there(const Entry& entry) {
  return entry.held || entry.channel->in_use() || entry.channel->keeps_messages();
}

std::vector<std::string> Graph::channels() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, entry] : channels_) {
    if (is_there(entry)) names.push_back(name);
  }
  return names;
}

std::vector<ChannelInfo> Graph::list() const {
  const MutexLock lock(mutex_);
  std::vector<ChannelInfo> out;
  for (const auto& [name, entry] : channels_) {
    const Channel& channel = *entry.channel;
    if (!is_there(entry)) continue;
    out.push_back({name, channel.type(), channel.policy(), channel.publisher_count()});
  }
  return out;
}

void Graph::settle(std::function<void()> work) {
  std::exception_ptr failed;
  if (work) {
    executor_.enqueue(Priority::normal, [&] {
      try {
        work();
      } catch (...) {
        failed = std::current_exception();
      }
    });
  }
  executor_.wait_idle();
  if (failed) std::rethrow_exception(failed);
}

void Graph::stop(std::int64_t linger_ms) {
  std::map<std::string, Entry> channels;
  {
    const MutexLock lock(mutex_);
    if (std::exchange(stopped_, true)) return;
    channels = channels_;
  }
  timers_.stop();
  timeouts_.stop();
  for (const auto& transport : transports_) transport->stop(linger_ms);
  for (const auto& [name, entry] : channels) entry.channel->close_ports();
}

}  // namespace hyphos::graph
