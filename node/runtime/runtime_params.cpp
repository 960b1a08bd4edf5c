// The parameters of a process: those of its nodes, and its copy of the shared tree.
#include "base/log.hpp"
#include "node/runtime/runtime_impl.hpp"

namespace hyphos {

ParamFiles Runtime::Impl::param_files(const std::string& node, const NodePlan* planned) const {
  ParamFiles files;
  if (!options_.state_folder.empty()) {
    files.run = std::filesystem::path(options_.state_folder) /
                (options_.process + "." + node + ".params.yaml");
  }
  if (planned != nullptr && !planned->persist.empty())
    files.keep = plan_->resolve(planned->persist);
  return files;
}

void Runtime::Impl::params_done() {
  std::vector<std::shared_ptr<Node::Impl>> nodes;
  {
    const MutexLock lock(mutex_);
    for (auto& [name, weak] : nodes_) {
      if (auto node = weak.lock()) nodes.push_back(std::move(node));
    }
  }
  for (const auto& node : nodes) node->params()->done();
  share_plan_params();
  if (by_hand_ && plan_) warn_of_absent_nodes();
}

Result<std::shared_ptr<SharedParams::Impl>> Runtime::Impl::shared_params() {
  if (auto good = usable(); !good) return good.error();
  const MutexLock lock(shared_mutex_);
  if (down_) {
    return Error{Code::disconnected, "the process is shutting down", "shared parameters"};
  }
  if (shared_) return shared_;
  SharedParams::Impl::Options options;
  options.process = options_.process;
  options.offline = options_.offline;
  if (!options_.state_folder.empty()) {
    options.file =
        std::filesystem::path(options_.state_folder) / (options_.process + ".shared_params.bin");
  }
  auto made = std::make_shared<SharedParams::Impl>(*graph_, std::move(options));
  if (auto opened = made->open(plan_ ? plan_->shared_params : ParamValue()); !opened) {
    made->close();
    return opened.error();
  }
  shared_ = made;
  return made;
}

void Runtime::Impl::share_plan_params() {
  if (!plan_ || plan_->shared_params.entries.empty() || down_) return;
  if (auto shared = shared_params(); !shared) {
    log::error("params",
               "the shared parameters of the plan are not shared: " + shared.error().to_string());
  }
}

void Runtime::Impl::close_shared_params() {
  std::shared_ptr<SharedParams::Impl> shared;
  {
    const MutexLock lock(shared_mutex_);
    shared = shared_;  // the handles of nodes keep it, too
  }
  if (shared) shared->close();
}

}  // namespace hyphos
