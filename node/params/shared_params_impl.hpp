#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "graph/graph.hpp"
#include "graph/subscriber.hpp"
#include "hyphos/remote_params.hpp"
#include "node/params/param_store.hpp"
#include "node/params/shared_replica.hpp"
#include "node/runtime/executor_handle.hpp"

namespace hyphos {

/// Connects a process's copy of the shared tree with its channel, its watchers and a file.
///
/// Each process publishes its start values and all values that were set, as one latched message
/// after each change. A process that takes a change publishes as well. So a late process gets all
/// values from any living one, and a message with our values shows that its sender has them.
///
/// One task on the pool publishes, however many changes occurred meanwhile. User code and publish()
/// run under no lock of the tree.
class SharedParams::Impl : public std::enable_shared_from_this<SharedParams::Impl> {
 public:
  struct Options {
    std::string process;
    bool offline = false;        ///< no channel
    std::filesystem::path file;  ///< keeps set values for a restart within one run. Empty: none
  };

  /// `graph` must live until close().
  Impl(graph::Graph& graph, Options options);

  /// Adds the start values and the values of the file, then opens the channel.
  Result<void> open(const ParamValue& planned);
  void close();

  [[nodiscard]] std::shared_ptr<const ParamValue> tree() const;
  Result<void> set(const std::vector<std::pair<std::string, ParamValue>>& values);
  Result<void> remove(const std::string& path);
  Result<void> plan(const ParamValue& tree);
  ParamWatch watch(const std::string& path,
                   std::function<void(const std::vector<std::string>&)> callback);
  Result<void> wait(Duration timeout);
  Result<std::size_t> settle(Duration timeout);
  [[nodiscard]] Error unknown(const std::string& path) const;

 private:
  struct Peer {
    std::string process;
    std::uint64_t digest = 0;
  };

  void take(const params::v1::SharedParams& message);
  /// Rebuilds the tree after a change of the replica, under the same lock. So a process never
  /// confirms a value that tree() does not have.
  ParamSet rebuild() HYPHOS_REQUIRES(mutex_);
  /// Notifies the watchers, then publishes if `publish`.
  void changed(const ParamSet& news, bool publish) HYPHOS_EXCLUDES(mutex_);
  void announce();
  void save(const params::v1::SharedParams& message) HYPHOS_REQUIRES(announce_mutex_);
  void restore();
  [[nodiscard]] Result<void> check_open() const;
  /// The processes whose last message has the values that were set here.
  [[nodiscard]] std::size_t equal_peers(std::uint64_t digest) const HYPHOS_REQUIRES(mutex_);
  [[nodiscard]] std::size_t others() const;

  const Options options_;
  const std::uint64_t instance_;
  const std::shared_ptr<ExecutorHandle> pool_;
  params::Watchers watchers_;
  log::OncePerSecond bad_log_;

  mutable Mutex mutex_;
  Condition arrived_;
  bool closed_ HYPHOS_GUARDED_BY(mutex_) = false;
  params::SharedReplica replica_ HYPHOS_GUARDED_BY(mutex_);
  std::shared_ptr<const ParamValue> tree_ HYPHOS_GUARDED_BY(mutex_);
  std::uint64_t version_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, Peer> peers_ HYPHOS_GUARDED_BY(mutex_);  // by instance

  std::atomic<bool> announcing_{false};
  Mutex announce_mutex_;  // one announcement at a time, in order
  std::shared_ptr<detail::PublisherCore> publisher_ HYPHOS_GUARDED_BY(announce_mutex_);
  std::string saved_ HYPHOS_GUARDED_BY(announce_mutex_);
  std::shared_ptr<graph::Subscriber> subscriber_;  // set by open(), before others use it
};

}  // namespace hyphos
