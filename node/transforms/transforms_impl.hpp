#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "graph/graph.hpp"
#include "hyphos/transforms.hpp"
#include "node/transforms/transform_waits.hpp"

namespace hyphos {

/// A transform tree, its two channels, and the look-ups that wait for it.
///
/// No lock is held while a message is published, because callbacks may run inside the call. So one
/// thread at a time sends the static transforms. It sends again if they changed meanwhile, so that
/// the latched message is the last state.
class Transforms::Impl {
 public:
  /// The graph's names of the two channels.
  struct Channels {
    std::string moving;
    std::string fixed;
  };

  Impl(graph::Graph& graph, Channels channels, std::string node, TransformsOptions options);
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { close(); }

  /// Subscribes to both channels.
  Result<void> open();
  /// Ends all subscriptions, publishers and waits. Idempotent. Not from a callback.
  void close();

  Result<void> set(std::span<const Transform> transforms, bool is_static);
  void wait(std::string_view target, std::string_view source, Time time, Duration timeout,
            TransformWaits::Answer answer);
  void wait_on_pool(std::string_view target, std::string_view source, Time time, Duration timeout,
                    Callback done);
  void clear();

  [[nodiscard]] const TransformTree& tree() const { return tree_; }
  [[nodiscard]] const Channels& channels() const { return channels_; }

 private:
  using Core = std::shared_ptr<detail::PublisherCore>;

  Result<std::shared_ptr<graph::Subscriber>> listen(const std::string& channel, bool is_static);
  void take(const detail::Delivery& delivery, const Envelope& message, bool is_static);
  Result<Core> publisher(bool is_static);
  Result<void> publish(std::span<const Transform> transforms, bool is_static);
  Result<void> publish_static(std::span<const Transform> changed);
  void keep_static(std::span<const Transform> changed);
  bool forget_static(std::span<const Transform> moving);
  Result<void> send_static();

  const Channels channels_;
  const std::string node_;
  TransformTree tree_;
  TransformWaits waits_;
  log::OncePerSecond problems_;
  log::OncePerSecond notices_;

  Mutex mutex_;
  graph::Graph* graph_ HYPHOS_GUARDED_BY(mutex_);  ///< null after close()
  bool closing_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::vector<std::shared_ptr<graph::Subscriber>> subscribers_ HYPHOS_GUARDED_BY(mutex_);
  Core publishers_[2] HYPHOS_GUARDED_BY(mutex_);  ///< moving, static. Created on first use
  /// Set by this process, by child.
  std::map<std::string, Transform> statics_ HYPHOS_GUARDED_BY(mutex_);
  bool static_changed_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool static_sending_ HYPHOS_GUARDED_BY(mutex_) = false;
};

}  // namespace hyphos
