#include "gateway/facade/graph_params.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

namespace hyphos::gateway {

namespace {

/// Timeout for the checks of a node. It also bounds how long the end of a gateway waits for a node
/// that hangs.
constexpr Duration kPatience = Duration::from_seconds(5);
/// Maximum number of waiting values for one node that does not reply. The next one is refused.
constexpr std::size_t kMaxWaiting = 4096;

}  // namespace

class GraphParams::Remote {
 public:
  Remote(RemoteParams params, const std::function<void()>& changed)
      : params_(std::move(params)),
        watch_(params_.watch([changed](const ParamSet&) { changed(); })) {}
  ~Remote() {
    end();
    if (thread_.joinable()) thread_.join();
  }
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;

  [[nodiscard]] const RemoteParams& params() const { return params_; }

  /// Stops all callbacks. Waiting values fail. A call in flight still completes.
  void end() HYPHOS_EXCLUDES(mutex_) {
    std::deque<Waiting> left;
    {
      const MutexLock lock(mutex_);
      ended_ = true;
      left.swap(waiting_);
    }
    come_.notify_all();
    watch_.close();
    params_.close();
    for (const Waiting& one : left) {
      one.done(Error{Code::disconnected, "the node is no longer running", params_.node()});
    }
  }
  /// True if destruction will not block. Call it after end().
  [[nodiscard]] bool is_over() const {
    const MutexLock lock(mutex_);
    return !busy_;
  }

  void set(ParamAssignment value, Done done) HYPHOS_EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      if (waiting_.size() < kMaxWaiting) {
        waiting_.push_back({std::move(value), std::move(done)});
        if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
        done = nullptr;
      }
    }
    come_.notify_one();
    if (done) {
      done(Error{Code::overloaded, "the node does not reply, and 4096 values already wait for it",
                 params_.node()});
    }
  }

 private:
  struct Waiting {
    ParamAssignment value;
    Done done;
  };

  void work() {
    UniqueLock lock(mutex_);
    for (;;) {
      come_.wait(lock, [this]() HYPHOS_REQUIRES(mutex_) { return ended_ || !waiting_.empty(); });
      if (ended_) return;
      const Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      busy_ = true;
      lock.unlock();
      next.done(params_.set({next.value}, kPatience));
      lock.lock();
      busy_ = false;
    }
  }

  const RemoteParams params_;
  const ParamWatch watch_;
  mutable Mutex mutex_;
  Condition come_;
  std::deque<Waiting> waiting_ HYPHOS_GUARDED_BY(mutex_);
  bool busy_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool ended_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::thread thread_ HYPHOS_GUARDED_BY(mutex_);
};

GraphParams::GraphParams(Node node, const GraphView& view, const Rules& rules,
                         std::function<void()> changed)
    : node_(std::move(node)),
      view_(view),
      rules_(rules),
      changed_(std::move(changed)),
      watch_(node_.params().watch([changed = changed_](const ParamSet&) { changed(); })) {}

GraphParams::~GraphParams() {
  watch_.close();
  (void)show({});
  ParamWatch shared_watch;
  {
    const MutexLock lock(mutex_);
    for (const auto& [name, remote] : remotes_) remote->end();
    shared_watch = shared_watch_;
  }
  shared_watch.close();
}

void GraphParams::look() {
  const std::set<std::string> now = view_.nodes_with_params();
  const MutexLock lock(mutex_);
  std::erase_if(parting_, [](const auto& remote) { return remote->is_over(); });
  std::erase_if(remotes_, [&](const auto& remote) HYPHOS_REQUIRES(mutex_) {
    if (now.contains(remote.first)) return false;
    remote.second->end();
    parting_.push_back(remote.second);
    return true;
  });
  try {
    if (!shared_ && rules_.subscribe.let(kSharedParams)) {
      shared_ = node_.shared_params();
      shared_watch_ =
          shared_->watch("", [changed = changed_](const std::vector<std::string>&) { changed(); });
    }
  } catch (const Exception&) {
    return;  // the gateway's node is shutting down
  }
  for (const std::string& name : now) {
    if (name == node_.name() || remotes_.contains(name)) continue;
    if (!rules_.subscribe.let(params_channel(name, "_params"))) continue;
    try {
      remotes_.emplace(name, std::make_shared<Remote>(node_.remote_params(name), changed_));
    } catch (const Exception&) {
      return;  // the gateway's node is shutting down
    }
  }
}

GraphParams::Sets GraphParams::all() const {
  Sets sets;
  const MutexLock lock(mutex_);
  for (const auto& [name, remote] : remotes_) {
    if (!remote->params().present()) continue;
    ParamSet values = remote->params().values();
    if (values.size() > 0) sets.emplace(name, std::move(values));
  }
  return sets;
}

void GraphParams::set(const std::string& node, const std::string& name, ParamVariant value,
                      Done done) {
  const std::string service = params_channel(node, "_set_params");
  if (!rules_.call.let(service)) {
    return done(Error{Code::permission,
                      "the rules of the gateway do not allow clients to call " + service, node});
  }
  std::shared_ptr<Remote> remote;
  {
    const MutexLock lock(mutex_);
    const auto found = remotes_.find(node);
    if (found != remotes_.end()) remote = found->second;
  }
  if (!remote) return done(Error{Code::disconnected, "the node is no longer running", node});
  remote->set({name, std::move(value)}, std::move(done));
}

std::shared_ptr<const ParamValue> GraphParams::shared() const {
  static const auto kEmpty = std::make_shared<const ParamValue>();
  const MutexLock lock(mutex_);
  return shared_ ? shared_->tree() : kEmpty;
}

Result<SharedParams> GraphParams::writable_shared() const {
  if (!rules_.publish.let(kSharedParams)) {
    return Error{
        Code::permission,
        std::string("the rules of the gateway do not allow clients to publish ") + kSharedParams,
        "shared parameters"};
  }
  const MutexLock lock(mutex_);
  if (shared_) return *shared_;
  return Error{
      Code::permission,
      std::string("the rules of the gateway do not allow clients to subscribe to ") + kSharedParams,
      "shared parameters"};
}

Result<void> GraphParams::set_shared(const std::string& path, const ParamValue& value) {
  const auto shared = writable_shared();
  return shared ? shared->set(path, value) : shared.error();
}

Result<void> GraphParams::remove_shared(const std::string& path) {
  const auto shared = writable_shared();
  return shared ? shared->remove(path) : shared.error();
}

ParamSet GraphParams::own() const { return node_.params().values(); }

std::map<std::string, std::string> GraphParams::show(const std::vector<ShownParam>& values) {
  const MutexLock lock(showing_);
  std::map<std::string, std::string> left_out;
  const bool may = rules_.publish.let(params_channel(node_.name(), "_params"));
  std::set<std::string> wanted;
  if (may) {
    for (const ShownParam& value : values) wanted.insert(value.name);
  }
  const ParamSet before = own();
  for (const auto& info : before.infos()) {
    if (!wanted.contains(info->name)) node_.params().forget(info->name);
  }
  if (!may) return left_out;
  for (const ShownParam& value : values) {
    std::string why = show_one(value);
    if (why.empty()) continue;
    node_.params().forget(value.name);  // an older value would be wrong
    left_out.emplace(value.name, std::move(why));
  }
  return left_out;
}

std::string GraphParams::show_one(const ShownParam& value) {
  const Params params = node_.params();
  const ParamSet before = own();
  const ParamInfo* known = before.find(value.name);
  if (known != nullptr && (!value.is_news || known->value == value.value)) return {};
  if (known != nullptr && known->type() != type_of(value.value)) {
    params.forget(value.name);
    known = nullptr;
  }
  if (known == nullptr) {
    ParamInfo info;
    info.name = value.name;
    info.standard = value.value;
    info.description = value.description;
    try {
      (void)params.declare_any(std::move(info), {});
    } catch (const Exception& error) {
      return error.error().message;
    }
    // Only a value of a plan or of the last run is replaced. The robot may have set another value
    // since the declaration.
    const ParamSet now = own();
    const ParamInfo* declared = now.find(value.name);
    if (declared != nullptr && declared->origin != ParamOrigin::plan &&
        declared->origin != ParamOrigin::restored) {
      return {};
    }
  }
  const Result<void> set = params.set({{value.name, value.value}});
  return set ? "" : set.error().message;
}

}  // namespace hyphos::gateway
