#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/facade/node_params.hpp"
#include "gateway/types/rules.hpp"
#include "hyphos/node.hpp"

namespace hyphos::gateway {

/// The parameters of the nodes of this machine. Each node that was ever set has a thread of its
/// own, which waits for its answers: one that hangs holds up nobody else's.
class GraphParams final : public NodeParams {
 public:
  /// `changed` is called on the pool when a value has changed. `rules` outlive it.
  GraphParams(Node node, const Rules& rules, std::function<void()> changed);
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

 private:
  class Remote;

  /// Why it cannot be shown, or "".
  std::string show_one(const ShownParam& value);

  const Node node_;
  const Rules& rules_;
  const std::function<void()> changed_;
  ParamWatch watch_;
  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, std::shared_ptr<Remote>> remotes_;
  std::vector<std::shared_ptr<Remote>> parting_;  // gone, but for an answer that is waited for
  std::mutex showing_;                            // one show() at a time
};

}  // namespace hyphos::gateway
