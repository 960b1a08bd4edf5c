#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "hyphos/params.hpp"
#include "hyphos/plan.hpp"
#include "node/params/param_store.hpp"
#include "node/params/param_wire.hpp"
#include "node/runtime/executor_handle.hpp"

namespace hyphos {

namespace params {

/// Of the channel that shows a node's parameters. The newest set is all that counts, and nobody who
/// is stopped may hold up the node.
[[nodiscard]] Policy state_policy();

}  // namespace params

/// Where a node's changed values are kept for its next start; empty: nowhere.
struct ParamFiles {
  std::filesystem::path run;   ///< for a restart within one run of a robot
  std::filesystem::path keep;  ///< `persist:` in the plan: from one run to the next
};

/// The parameters of one node between its store and the world: the plan they start from, the files
/// that outlive it, and the channel on which everybody sees them.
///
/// After a change, one task on the pool saves and publishes the whole set, however many changes
/// there were meanwhile. It lives as long as handles do; after close(), which the node calls before
/// its runtime ends, it only answers reads.
class Params::Impl : public std::enable_shared_from_this<Params::Impl> {
 public:
  using Check = params::Store::Check;

  /// `graph` lives until close(). `plan` may be null.
  Impl(std::string node, std::string process, const NodePlan* plan, ParamFiles files,
       graph::Graph& graph);

  /// `serve` opens the service that calls answer(); it is called with the first declaration.
  void set_serve(std::function<Result<void>()> serve) { serve_ = std::move(serve); }
  Result<std::shared_ptr<detail::ParamCell>> declare(ParamInfo info, Check check);
  /// What Node::param() reads: declares the name, read-only, if nothing else has.
  Result<ParamVariant> plain(const std::string& name, ParamVariant fallback);
  Result<void> set(const std::vector<ParamAssignment>& values);
  void forget(const std::string& name);
  Result<void> add_check(params::Store::CrossCheck check);
  ParamWatch watch(std::string name, std::function<void(const ParamSet&)> callback);
  [[nodiscard]] ParamSet values() const { return store_.values(); }
  void done();
  /// The answer to a request from another process. Values are saved before it is given.
  [[nodiscard]] params::v1::SetParamsReply answer(const params::v1::SetParams& request);
  [[nodiscard]] const std::shared_ptr<ExecutorHandle>& pool() const { return pool_; }
  /// No callback runs after this, and nothing is published.
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
  /// Restored values that are refused together must not keep the node from starting. False if there
  /// are none.
  bool give_up_restored(const std::string& why);
  Result<std::shared_ptr<detail::ParamCell>> insert(ParamInfo info, Check check, bool known);
  Result<ParamVariant> from_plan(const std::string& name, ParamVariant fallback) const;
  void changed();
  /// Saves and publishes what is new. The warning of saving, or "".
  std::string announce();
  std::string save(const ParamSet& now);
  void publish(const ParamSet& now);
  params::v1::NodeParams message(const ParamSet& now) const;
  std::vector<std::string> undeclared(const ParamSet& now) const;

  const params::Owner owner_;
  const ParamValue planned_;  // a map, or null
  const ParamFiles files_;
  const std::shared_ptr<ExecutorHandle> pool_;

  mutable std::mutex mutex_;
  std::function<Result<void>()> serve_;  // empty once it was called
  std::set<std::string> plain_;
  std::map<std::string, ParamVariant> unsaved_;  // what the plan says of restored ones
  bool done_ = false;

  std::map<std::string, ParamValue> saved_;  // from the files, by name; fixed once made

  std::atomic<bool> announcing_{false};
  std::mutex announce_mutex_;  // one announcement at a time, in order; also guards what follows
  std::shared_ptr<detail::PublisherCore> publisher_;
  std::uint64_t published_version_ = 0;
  std::string saved_text_;
  std::string save_problem_;
  params::Store store_;
};

}  // namespace hyphos
