#include "hyphos/remote_params.hpp"

#include <algorithm>
#include <set>

#include "base/config.hpp"
#include "base/config_reader.hpp"
#include "base/log.hpp"
#include "graph/subscriber.hpp"
#include "hyphos/inspect.hpp"
#include "node/params/remote_params_impl.hpp"
#include "node/runtime/runtime_impl.hpp"

namespace hyphos {
namespace {

/// Names whose value differs, or that are in only one of the two sets.
std::vector<std::string> difference(const ParamSet& before, const ParamSet& now) {
  std::set<std::string> names;
  for (const auto& info : now.infos()) {
    const ParamInfo* old = before.find(info->name);
    if (old == nullptr || old->value != info->value) names.insert(info->name);
  }
  for (const auto& info : before.infos()) {
    if (now.find(info->name) == nullptr) names.insert(info->name);
  }
  return {names.begin(), names.end()};
}

}  // namespace

RemoteParams::Impl::Impl(std::string node, const std::shared_ptr<Node::Impl>& via)
    : node_(std::move(node)),
      via_(via),
      domain_(via->runtime().domain()),
      watchers_([pool = via->params()->pool()](std::function<void()> work) {
        pool->run(std::move(work));
      }) {}

void RemoteParams::Impl::take(const params::v1::NodeParams& message) {
  auto decoded = params::decode(message);
  if (!decoded) {
    std::uint64_t more = 0;
    if (bad_log_.allow(more)) {
      log::warn("params", "the parameters of node '" + node_ +
                              "' cannot be decoded: " + decoded.error().to_string() + " (and " +
                              std::to_string(more) + " before)");
    }
    return;
  }
  ParamSet news;
  {
    const MutexLock lock(mutex_);
    const bool same = here_ && instance_ == message.instance();
    if (same && message.version() < now_.version()) return;  // a newer reply has overtaken it
    news = decoded->with_changed(here_ ? difference(now_, *decoded) : std::vector<std::string>());
    now_ = news;
    instance_ = message.instance();
    process_ = message.process();
    undeclared_.assign(message.undeclared().begin(), message.undeclared().end());
    here_ = true;
    arrived_.notify_all();
  }
  if (!news.changed().empty()) watchers_.tell(news);
}

Result<ParamSet> RemoteParams::Impl::wait(Duration timeout) {
  UniqueLock lock(mutex_);
  const auto come = [this]() HYPHOS_REQUIRES(mutex_) { return here_ || closed_; };
  const std::chrono::steady_clock::time_point deadline(
      std::chrono::nanoseconds((monotonic_now() + timeout).ns));
  if (arrived_.wait_until(lock, deadline, come) && here_) return now_;
  const bool closed = closed_;
  lock.unlock();
  return Error{closed ? Code::disconnected : Code::timeout,
               "no parameters arrived from node '" + node_ + "'" + others(), node_};
}

std::string RemoteParams::Impl::others() const {
  const auto nodes = nodes_with_params(domain_);
  if (!nodes || nodes->empty()) {
    return ". No node with parameters runs in domain '" + domain_ + "' on this machine";
  }
  if (std::find(nodes->begin(), nodes->end(), node_) != nodes->end())
    return ". The node is running, but busy";
  return config::suggestion(config::Problems(), node_, "nodes with parameters",
                            {nodes->begin(), nodes->end()});
}

void RemoteParams::Impl::close() {
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    arrived_.notify_all();
  }
  subscription_.close();
  watchers_.close();
}

RemoteParams Node::remote_params(const std::string& node) const {
  if (std::string problem = name_problem(node); !problem.empty()) {
    throw Exception({Code::invalid_config, std::move(problem), node});
  }
  impl_->check_open().or_throw();
  auto made = std::make_shared<RemoteParams::Impl>(node, impl_);
  const auto take = [weak = std::weak_ptr(made)](const Message<params::v1::NodeParams>& message) {
    if (const auto self = weak.lock()) self->take(*message);
  };
  SubscriptionOptions options;
  options.policy = params::state_policy();
  made->hold(subscribe<params::v1::NodeParams>(params::channel_of(node), options, take));
  impl_->keep(made);
  return RemoteParams(std::move(made));
}

const std::string& RemoteParams::node() const { return impl_->node(); }
Result<ParamSet> RemoteParams::wait(Duration timeout) const { return impl_->wait(timeout); }
ParamSet RemoteParams::values() const { return impl_->values(); }
bool RemoteParams::present() const { return impl_->present(); }
std::vector<std::string> RemoteParams::undeclared() const { return impl_->undeclared(); }
std::string RemoteParams::process() const { return impl_->process(); }
void RemoteParams::close() const { impl_->close(); }

Result<void> RemoteParams::set(const std::vector<ParamAssignment>& values, Duration timeout) const {
  return impl_->set(values, timeout);
}

ParamWatch RemoteParams::watch(std::function<void(const ParamSet&)> callback) const {
  return impl_->watch(std::move(callback));
}

Result<std::vector<std::string>> nodes_with_params(const std::string& domain) {
  auto processes = inspect(domain);
  if (!processes) return processes.error();
  std::set<std::string> names;
  for (const ProcessInfo& process : *processes) {
    for (const EndpointInfo& end : process.endpoints) {
      if (end.is_publisher && end.channel == params::channel_of(end.node)) names.insert(end.node);
    }
  }
  return std::vector<std::string>(names.begin(), names.end());
}

}  // namespace hyphos
