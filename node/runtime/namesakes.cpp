#include <set>

#include "base/log.hpp"
#include "hyphos/inspect.hpp"
#include "node/runtime/runtime_impl.hpp"
#include "transport/shm/shm.hpp"

namespace hyphos {

void Runtime::Impl::warn_of_namesakes() {
  const auto* shm = dynamic_cast<transport::ShmTransport*>(graph_->transport("shm"));
  if (shm == nullptr || warned_of_namesakes_.exchange(true)) return;
  const auto processes = inspect(domain_);
  if (!processes) return;
  std::set<std::string> mine;
  {
    const MutexLock lock(mutex_);
    for (const auto& [name, node] : nodes_) mine.insert(name);
  }
  for (const ProcessInfo& process : *processes) {
    if (process.participant == shm->participant_id()) continue;
    std::set<std::string> both;
    for (const EndpointInfo& end : process.endpoints) {
      if (mine.contains(end.node)) both.insert(end.node);
    }
    for (const std::string& name : both) {
      log::warn("node", "node '" + name + "' also runs in process '" + process.name + "' (pid " +
                            std::to_string(process.pid) +
                            "). Commands and parameters address both. Give one of the two another "
                            "name, or another domain (HYPHOS_DOMAIN)");
    }
  }
}

void Runtime::Impl::warn_of_absent_nodes() {
  std::string known;
  std::vector<std::string> absent;
  {
    const MutexLock lock(mutex_);
    for (const auto& [name, node] : nodes_) known += (known.empty() ? "" : ", ") + name;
    for (const NodePlan& planned : plan_->nodes) {
      if (!nodes_.contains(planned.name)) absent.push_back(planned.name);
    }
  }
  for (const std::string& name : absent) {
    log::warn("plan", "--hyphos-set names node '" + name + "', which this process does not have. " +
                          "Its nodes: " + known);
  }
}

}  // namespace hyphos
