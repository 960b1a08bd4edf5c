#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "gateway/facade/graph_view.hpp"
#include "gateway/facade/parameters.hpp"
#include "gateway/types/rules.hpp"
#include "hyphos/node.hpp"
#include "hyphos/remote_params.hpp"

namespace hyphos::gateway {

/// The parameters of the nodes of this machine. Each node that was ever set gets its own thread,
/// which waits for the replies. So a node that hangs delays no other node.
class GraphParams final : public NodeParams {
 public:
  /// `changed` runs on the thread pool after a value has changed. `view` and `rules` must outlive
  /// this object.
  GraphParams(Node node, const GraphView& view, const Rules& rules, std::function<void()> changed);
  ~GraphParams() override;
  GraphParams(const GraphParams&) = delete;
  GraphParams& operator=(const GraphParams&) = delete;

  [[nodiscard]] std::string node() const override { return node_.name(); }
  void look() override;
  [[nodiscard]] Sets all() const override;
  void set(const std::string& node, const std::string& name, ParamVariant value,
           Done done) override;
  [[nodiscard]] ParamSet own() const override;
  std::map<std::string, std::string> show(const std::vector<ShownParam>& values) override;
  [[nodiscard]] std::shared_ptr<const ParamValue> shared() const override;
  Result<void> set_shared(const std::string& path, const ParamValue& value) override;
  Result<void> remove_shared(const std::string& path) override;

 private:
  class Remote;

  /// The tree, or the reason why clients may not change it.
  Result<SharedParams> writable_shared() const;
  /// The reason why the value cannot be shown, or "".
  std::string show_one(const ShownParam& value) HYPHOS_REQUIRES(showing_);

  const Node node_;
  const GraphView& view_;
  const Rules& rules_;
  const std::function<void()> changed_;
  ParamWatch watch_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<Remote>> remotes_ HYPHOS_GUARDED_BY(mutex_);
  // gone, but a reply is still in flight
  std::vector<std::shared_ptr<Remote>> parting_ HYPHOS_GUARDED_BY(mutex_);
  std::optional<SharedParams> shared_ HYPHOS_GUARDED_BY(mutex_);  // from the first look()
  ParamWatch shared_watch_ HYPHOS_GUARDED_BY(mutex_);
  Mutex showing_;  // serializes show()
};

class GraphParameters final : public Parameters {
 public:
  /// `view` and `rules` must outlive this object and the opened parameters.
  GraphParameters(Node node, const GraphView& view, const Rules& rules)
      : node_(std::move(node)), view_(view), rules_(rules) {}

  std::unique_ptr<NodeParams> open(std::function<void()> changed) override {
    return std::make_unique<GraphParams>(node_, view_, rules_, std::move(changed));
  }

 private:
  const Node node_;
  const GraphView& view_;
  const Rules& rules_;
};

}  // namespace hyphos::gateway
