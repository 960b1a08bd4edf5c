#include "transport/shm/ports.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::transport::shm_detail {
namespace {

Error too_many_tools(const std::string& channel) {
  return Error{Code::exhausted,
               "this process already has " + std::to_string(shm::kMaxToolsOnly) +
                   " endpoints in shared memory for tools only, which is the limit. Tools on "
                   "this machine do not see this endpoint",
               channel};
}

}  // namespace

Error too_many_endpoints(const std::string& channel) {
  return Error{Code::exhausted,
               "this process already has " + std::to_string(shm::kMaxEndpoints) +
                   " endpoints in shared memory, which is the limit. Close some, give channels "
                   "that no other process needs 'scope: local', or split the process",
               channel};
}

Result<void> Ports::check(const ChannelSpec& spec, bool publishes) const {
  const ReaderLock lock(mutex_);
  std::uint32_t tools_only = 0;
  for (const auto& other : ports_) {
    if (other == nullptr) continue;
    if (other->spec.tools_only && spec.tools_only && ++tools_only == shm::kMaxToolsOnly) {
      return too_many_tools(spec.name);  // the plan's own channels must find room
    }
    if (other->spec.name != spec.name) continue;
    if ((other->send_events != nullptr) != publishes) continue;
    return Error{Code::already_exists,
                 publishes ? "this process already publishes the channel"
                           : "this process already subscribes to the channel",
                 spec.name};
  }
  return {};
}

Result<PortId> Ports::add(std::shared_ptr<Port> port) {
  const MutexLock lock(mutex_);
  const auto free = std::find(ports_.begin(), ports_.end(), nullptr);
  const auto id = static_cast<PortId>(free - ports_.begin() + 1);
  if (id > by_id_.size()) return too_many_endpoints(port->spec.name);
  by_id_[id - 1].store(port.get(), std::memory_order_seq_cst);
  if (free == ports_.end()) {
    ports_.push_back(std::move(port));
  } else {
    *free = std::move(port);
  }
  return id;
}

std::shared_ptr<Port> Ports::remove(PortId id) {
  const MutexLock lock(mutex_);
  if (id == 0 || id > ports_.size()) return nullptr;
  std::shared_ptr<Port> port = std::exchange(ports_[id - 1], nullptr);
  by_id_[id - 1].store(nullptr, std::memory_order_seq_cst);
  if (port != nullptr) retired_.push_back(port);
  return port;
}

std::vector<std::shared_ptr<Port>> Ports::remove_all() {
  std::vector<std::shared_ptr<Port>> removed;
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (ports_[i] != nullptr) removed.push_back(std::move(ports_[i]));
    by_id_[i].store(nullptr, std::memory_order_seq_cst);
  }
  ports_.clear();
  return removed;
}

void Ports::free_retired() {
  std::vector<std::shared_ptr<Port>> retired;  // destroyed after the unlock
  const MutexLock lock(mutex_);
  if (gate_.idle()) retired.swap(retired_);
}

std::vector<std::shared_ptr<Port>> Ports::all() const {
  std::vector<std::shared_ptr<Port>> found;
  const ReaderLock lock(mutex_);
  std::copy_if(ports_.begin(), ports_.end(), std::back_inserter(found),
               [](const auto& port) { return port != nullptr; });
  return found;
}

}  // namespace hyphos::transport::shm_detail
