#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "hyphos/node.hpp"
#include "hyphos/remote_params.hpp"
#include "hyphos/subscription.hpp"
#include "node/params/param_store.hpp"
#include "node/params/param_wire.hpp"
#include "node/runtime/executor_handle.hpp"

namespace hyphos {

/// A local copy of another node's parameters.
class RemoteParams::Impl {
 public:
  /// `via` is the requesting node.
  Impl(std::string node, const std::shared_ptr<Node::Impl>& via);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { close(); }

  void hold(Subscription subscription) { subscription_ = std::move(subscription); }
  /// Stores a set that the owner has published or sent with a reply. Ignores a set older than the
  /// stored one.
  void take(const params::v1::NodeParams& message);

  [[nodiscard]] const std::string& node() const { return node_; }
  Result<ParamSet> wait(Duration timeout);
  Result<void> set(const std::vector<ParamAssignment>& values, Duration timeout);
  ParamWatch watch(std::function<void(const ParamSet&)> callback) {
    return ParamWatch(watchers_.add("", std::move(callback)));
  }
  [[nodiscard]] bool present() const { return subscription_.publishers() > 0; }
  [[nodiscard]] ParamSet values() const {
    const MutexLock lock(mutex_);
    return now_;
  }
  [[nodiscard]] std::vector<std::string> undeclared() const {
    const MutexLock lock(mutex_);
    return undeclared_;
  }
  [[nodiscard]] std::string process() const {
    const MutexLock lock(mutex_);
    return process_;
  }
  void close();

 private:
  [[nodiscard]] std::string others() const;

  using Ask =
      std::function<Result<params::v1::SetParamsReply>(params::v1::SetParams, Duration timeout)>;
  /// The function that sends requests to the owner. The first request creates it.
  Result<Ask> ask();

  const std::string node_;
  const std::weak_ptr<Node::Impl> via_;  // weak: its callbacks may hold this
  const std::string domain_;
  mutable Mutex mutex_;
  Condition arrived_;
  bool here_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool closed_ HYPHOS_GUARDED_BY(mutex_) = false;
  ParamSet now_ HYPHOS_GUARDED_BY(mutex_);
  std::uint64_t instance_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::string process_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<std::string> undeclared_ HYPHOS_GUARDED_BY(mutex_);
  log::OncePerSecond bad_log_;
  params::Watchers watchers_;
  Subscription subscription_;
  Mutex ask_mutex_;
  Ask ask_ HYPHOS_GUARDED_BY(ask_mutex_);
};

}  // namespace hyphos
