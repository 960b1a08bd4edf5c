#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.hpp"
#include "hyphos/params.hpp"

namespace hyphos {

namespace params {

/// Runs a function later on some thread, or never if the process is ending.
using Enqueue = std::function<void(std::function<void()>)>;

/// Returns the result of a user's check. An exception is a refusal, too.
template <typename F, typename... Args>
std::string ask(const F& check, const Args&... args) {
  try {
    return check(args...);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "the check failed with an unknown exception";
  }
}

}  // namespace params

/// One watcher: reports changes to a callback, one call at a time, in the threads of `enqueue`.
///
/// Invariant, under `mutex_`: at most one task is enqueued or running. Further changes are merged
/// into `pending_`, so a slow callback costs one ParamSet, however many changes there are.
class ParamWatch::Impl : public std::enable_shared_from_this<ParamWatch::Impl> {
 public:
  using Callback = std::function<void(const ParamSet&)>;
  /// An empty `name` matches every change.
  Impl(std::string name, Callback callback, params::Enqueue enqueue)
      : name_(std::move(name)), callback_(std::move(callback)), enqueue_(std::move(enqueue)) {}

  void tell(const ParamSet& now) HYPHOS_EXCLUDES(mutex_);
  void close() HYPHOS_EXCLUDES(mutex_);
  [[nodiscard]] std::uint64_t merged() const { return merged_.load(std::memory_order_relaxed); }

 private:
  void run() HYPHOS_EXCLUDES(mutex_);

  const std::string name_;
  Callback callback_;
  const params::Enqueue enqueue_;
  Mutex mutex_;
  Condition ended_;
  bool has_pending_ HYPHOS_GUARDED_BY(mutex_) = false;
  ParamSet pending_ HYPHOS_GUARDED_BY(mutex_);
  bool scheduled_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool closed_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::thread::id running_ HYPHOS_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> merged_{0};
};

namespace params {

/// The watchers of one set of parameters. Thread-safe.
class Watchers {
 public:
  explicit Watchers(Enqueue enqueue) : enqueue_(std::move(enqueue)) {}
  std::shared_ptr<ParamWatch::Impl> add(std::string name, ParamWatch::Impl::Callback callback);
  void tell(const ParamSet& now);
  /// No callback runs after the return.
  void close();

 private:
  const Enqueue enqueue_;
  Mutex mutex_;
  bool closed_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<ParamWatch::Impl>> all_ HYPHOS_GUARDED_BY(mutex_);
};

/// The parameters of one node: their values, their rules, and their changes. Independent of plans,
/// files and channels. Thread-safe.
///
/// A change is optimistic. It is computed and checked on a snapshot without a lock. It is committed
/// only if the snapshot is still the newest, and otherwise recomputed. So user code runs without a
/// lock, and no change is lost.
class Store {
 public:
  using Check = std::function<std::string(const ParamVariant&)>;
  using CrossCheck = std::function<std::string(const ParamSet&)>;

  explicit Store(Enqueue enqueue) : watchers_(std::move(enqueue)) {}

  /// `info` contains the value and origin. Errors: already_exists, exhausted, invalid_config.
  Result<std::shared_ptr<detail::ParamCell>> declare(ParamInfo info, Check check);
  /// Adds the description to a parameter that was declared without one (Node::param).
  Result<std::shared_ptr<detail::ParamCell>> describe(ParamInfo info, Check check);
  /// Removes a declared parameter and notifies the watchers. False: there is none.
  bool forget(const std::string& name);
  Result<void> set(const std::vector<ParamAssignment>& values, ParamOrigin origin);
  Result<void> add_check(CrossCheck check);
  [[nodiscard]] ParamSet values() const;
  /// Releases all checks and watchers. No callback runs after the return. Values stay readable.
  void close();
  [[nodiscard]] Watchers& watchers() { return watchers_; }

 private:
  struct Entry {
    std::shared_ptr<detail::ParamCell> cell;
    Check check;
  };
  struct Plan {
    ParamSet base;
    ParamSet next;
    std::vector<std::string> touched;  // value or origin differs
  };
  /// Computes the new set. invalid_config lists every reason.
  Result<Plan> work_out(const std::vector<ParamAssignment>& values, ParamOrigin origin) const;
  std::string problem_of(const ParamInfo& info, const ParamVariant& value) const;
  bool commit(const Plan& plan);
  /// A parameter nested in `name`, or in which `name` is nested. "" if none.
  std::string nested_with(const std::string& name) const HYPHOS_REQUIRES(mutex_);
  Result<std::shared_ptr<detail::ParamCell>> insert(ParamInfo info, Check check, bool known);

  mutable Mutex mutex_;
  ParamSet now_ HYPHOS_GUARDED_BY(mutex_);
  std::map<std::string, Entry, std::less<>> entries_ HYPHOS_GUARDED_BY(mutex_);
  std::vector<CrossCheck> checks_ HYPHOS_GUARDED_BY(mutex_);
  std::size_t bytes_ HYPHOS_GUARDED_BY(mutex_) = 0;
  Watchers watchers_;
};

}  // namespace params
}  // namespace hyphos
