#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "graph/graph.hpp"
#include "hyphos/params.hpp"
#include "hyphos/plan.hpp"
#include "node/params/param_store.hpp"
#include "node/params/param_wire.hpp"
#include "node/runtime/executor_handle.hpp"

namespace hyphos {

namespace params {

/// The policy of the channel that publishes a node's parameters. Only the newest set matters, and a
/// stopped subscriber must not block the node.
[[nodiscard]] Policy state_policy();

}  // namespace params

/// The files that save a node's changed values for its next start. Empty: not saved.
struct ParamFiles {
  std::filesystem::path run;   ///< for a restart within one run of a robot
  std::filesystem::path keep;  ///< `persist:` in the plan: across runs
};

/// Connects the store of one node's parameters with the plan that sets their start values, the
/// files that outlive the node, and the channel that publishes them.
///
/// After a change, one task on the pool saves and publishes the whole set, however many changes
/// occurred meanwhile. The object lives as long as its handles. The node calls close() before its
/// runtime ends. After that, only reads succeed.
class Params::Impl : public std::enable_shared_from_this<Params::Impl> {
 public:
  using Check = params::Store::Check;

  /// `graph` must live until close(). `plan` may be null.
  Impl(std::string node, std::string process, const NodePlan* plan, ParamFiles files,
       graph::Graph& graph);

  /// Sets `serve`, which opens the service that calls answer(). The first declaration calls it.
  void set_serve(std::function<Result<void>()> serve) {
    const MutexLock lock(mutex_);
    serve_ = std::move(serve);
  }
  Result<std::shared_ptr<detail::ParamCell>> declare(ParamInfo info, Check check);
  /// Reads for Node::param(): declares the name as read-only if it is not declared.
  Result<ParamVariant> plain(const std::string& name, ParamVariant fallback);
  Result<void> set(const std::vector<ParamAssignment>& values);
  void forget(const std::string& name);
  Result<void> add_check(params::Store::CrossCheck check);
  ParamWatch watch(std::string name, std::function<void(const ParamSet&)> callback);
  [[nodiscard]] ParamSet values() const { return store_.values(); }
  void done();
  /// The reply to a request from another process. Values are saved before the return.
  [[nodiscard]] params::v1::SetParamsReply answer(const params::v1::SetParams& request);
  [[nodiscard]] const std::shared_ptr<ExecutorHandle>& pool() const { return pool_; }
  /// No callback runs and nothing is published after the return.
  void close();

 private:
  struct Start {
    ParamVariant value;
    ParamOrigin origin = ParamOrigin::standard;
  };
  Result<void> check_open() const;
  void serve_once();
  void read_files();
  void read_saved(const std::filesystem::path& file, bool of_this_run);
  static std::string problem_of(const ParamInfo& info, const Check& check,
                                const ParamVariant& value);
  Result<Start> planned_value(const ParamInfo& info, const Check& check) const;
  Result<Start> start_value(const ParamInfo& info, const Check& check);
  /// Restored values that are invalid together must not prevent a start of the node. False if there
  /// are none.
  bool give_up_restored(const std::string& why);
  Result<std::shared_ptr<detail::ParamCell>> insert(ParamInfo info, Check check, bool known);
  Result<ParamVariant> from_plan(const std::string& name, ParamVariant fallback) const;
  void changed();
  /// Saves and publishes the changes. Returns the warning of the save, or "".
  std::string announce();
  std::string save(const ParamSet& now) HYPHOS_REQUIRES(announce_mutex_);
  void publish(const ParamSet& now) HYPHOS_REQUIRES(announce_mutex_);
  params::v1::NodeParams message(const ParamSet& now) const;
  std::vector<std::string> undeclared(const ParamSet& now) const;

  const params::Owner owner_;
  const ParamValue planned_;  // a map, or null
  const ParamFiles files_;
  const std::shared_ptr<ExecutorHandle> pool_;

  mutable Mutex mutex_;
  std::function<Result<void>()> serve_ HYPHOS_GUARDED_BY(mutex_);  // empty after its call
  std::set<std::string> plain_ HYPHOS_GUARDED_BY(mutex_);
  // The plan's values of restored parameters.
  std::map<std::string, ParamVariant> unsaved_ HYPHOS_GUARDED_BY(mutex_);
  bool done_ HYPHOS_GUARDED_BY(mutex_) = false;

  std::map<std::string, ParamValue> saved_;  // from the files, by name. Fixed after construction

  std::atomic<bool> announcing_{false};
  Mutex announce_mutex_;  // one announcement at a time, in order
  std::shared_ptr<detail::PublisherCore> publisher_ HYPHOS_GUARDED_BY(announce_mutex_);
  std::uint64_t published_version_ HYPHOS_GUARDED_BY(announce_mutex_) = 0;
  std::string saved_text_ HYPHOS_GUARDED_BY(announce_mutex_);
  std::string save_problem_ HYPHOS_GUARDED_BY(announce_mutex_);
  params::Store store_;
};

}  // namespace hyphos
