/// A complete transport in one file, as an example and as proof that one file and one line are
/// enough. It has queues in this process's memory, one thread per subscription, and one lock for
/// everything. tests/transport/CMakeLists.txt adds the line to the list.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hyphos/time.hpp"
#include "transport/registry.hpp"

namespace hyphos::transport {
namespace {

class SampleTransport final : public Transport {
 public:
  struct In;
  struct Out;
  /// The state that the transports of one domain share: the "network".
  struct Hub {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::shared_ptr<Out>> outs;
    std::vector<std::shared_ptr<In>> ins;
  };
  struct Out {
    std::string process;
    std::uint64_t owner = 0;
    ChannelSpec spec;
    SendEvents* send_events = nullptr;  // null once closed
    LatchedEnvelopes kept;
  };
  struct In {
    std::string process;
    std::uint64_t owner = 0;
    ChannelSpec spec;
    ReceiveSink* sink = nullptr;
    std::deque<std::pair<Envelope, std::shared_ptr<Out>>> queue;
    bool full = false;
    bool closed = false;
    std::thread thread;
  };

  SampleTransport(std::string process, std::shared_ptr<Hub> hub)
      : Transport("sample"), process_(std::move(process)), hub_(std::move(hub)) {}
  ~SampleTransport() override { SampleTransport::stop(0); }

  Result<void> start() override { return success(); }
  WritableBuffer loan(PortId, std::size_t) override { return {}; }

  void stop(std::int64_t) override {
    while (!ins_.empty()) close(ins_.begin()->first);
    while (!outs_.empty()) close(outs_.begin()->first);
  }

  Result<PortId> open(const ChannelSpec& spec, ReceiveSink* sink,
                      SendEvents* send_events) override {
    const std::lock_guard lock(hub_->mutex);
    const PortId id = ++next_;
    if (send_events != nullptr) {
      for (const auto& [other, out] : outs_) {
        if (out->spec.name == spec.name) return Error{Code::already_exists, "taken", spec.name};
      }
      auto out = std::make_shared<Out>(Out{process_, id_of_process(), spec, send_events, {}});
      outs_[id] = out;
      hub_->outs.push_back(out);
      for (const auto& in : hub_->ins) meet(out, in);
    } else {
      auto in = std::make_shared<In>();
      in->process = process_;
      in->owner = id_of_process();
      in->spec = spec;
      in->sink = sink;
      ins_[id] = in;
      hub_->ins.push_back(in);
      for (const auto& out : hub_->outs) meet(out, in);
      in->thread = std::thread([hub = hub_, in] { run(*hub, *in); });
    }
    return id;
  }

  void close(PortId port) override {
    std::unique_lock lock(hub_->mutex);
    if (const auto out = outs_.find(port); out != outs_.end()) {
      for (const auto& in : hub_->ins) {
        if (matches(*out->second, *in)) in->sink->peer(name(), process_, id_of_process(), false);
      }
      std::erase(hub_->outs, out->second);
      out->second->send_events = nullptr;
      outs_.erase(out);
      hub_->changed.notify_all();
      return;
    }
    const auto found = ins_.find(port);
    if (found == ins_.end()) return;
    const std::shared_ptr<In> in = found->second;
    ins_.erase(found);
    in->closed = true;
    std::erase(hub_->ins, in);
    hub_->changed.notify_all();
    lock.unlock();
    in->thread.join();
    lock.lock();
    for (auto& [message, out] : in->queue) lose(*out, Drop::disconnected);
    in->queue.clear();
    for (const auto& out : hub_->outs) {
      if (matches(*out, *in)) out->send_events->listeners(name(), receivers(*out));
    }
  }

  bool has_room(PortId port, std::size_t) override {
    const std::lock_guard lock(hub_->mutex);
    const auto found = outs_.find(port);
    if (found == outs_.end() || found->second->spec.policy.overflow != Overflow::block) return true;
    const Out& out = *found->second;
    return std::ranges::none_of(hub_->ins, [&](const auto& in) {
      return matches(out, *in) && !in->closed && in->queue.size() >= out.spec.policy.depth;
    });
  }

  SendReport send(PortId port, const Envelope& message) override {
    std::unique_lock lock(hub_->mutex);
    SendReport report;
    const auto found = outs_.find(port);
    if (found == outs_.end()) return report;
    const std::shared_ptr<Out> out = found->second;
    const Policy& policy = out->spec.policy;
    if (message.meta.latch == Latch::gone) {
      (void)out->kept.forget(message.meta.sender);
      for (const auto& in : hub_->ins) {
        if (matches(*out, *in) && !in->closed) in->queue.emplace_back(message, out);
      }
      hub_->changed.notify_all();
      return report;
    }
    if (policy.latched) {
      (void)out->kept.keep(message, message.meta.sequence, message.meta.latched_depth);
    }
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(policy.block_timeout_ms);
    for (const auto& in : std::vector(hub_->ins)) {
      if (!matches(*out, *in)) continue;
      if (message.meta.to != 0 && message.meta.to != in->owner) continue;
      const auto has_room = [&] { return in->closed || in->queue.size() < policy.depth; };
      if (!has_room() && policy.overflow == Overflow::block) {
        if (policy.block_timeout_ms == 0)
          hub_->changed.wait(lock, has_room);
        else
          hub_->changed.wait_until(lock, deadline, has_room);
      }
      if (in->closed) {
        fail(*out, report, Drop::disconnected, Code::disconnected);
      } else if (has_room() || policy.overflow == Overflow::drop_oldest) {
        if (!has_room()) {
          lose(*in->queue.front().second, Drop::overflow);
          in->queue.pop_front();
        }
        in->queue.emplace_back(message, out);
        in->queue.back().first.meta.peer = out->owner;
        ++report.accepted;
      } else if (policy.overflow == Overflow::drop_newest) {
        ++report.dropped;
        lose(*out, Drop::overflow);
      } else {
        fail(*out, report, Drop::timeout, Code::timeout);
      }
    }
    hub_->changed.notify_all();
    return report;
  }

  void on_space(PortId port) override {
    const std::lock_guard lock(hub_->mutex);
    const auto found = ins_.find(port);
    if (found != ins_.end()) found->second->full = false;
    hub_->changed.notify_all();
  }

  std::vector<PeerStatus> peers() const override {
    const std::lock_guard lock(hub_->mutex);
    std::vector<PeerStatus> all;
    for (const auto& [id, out] : outs_) {
      for (const auto& in : hub_->ins) {
        if (matches(*out, *in)) all.push_back({out->spec.name, in->process, "memory", false});
      }
    }
    for (const auto& [id, in] : ins_) {
      for (const auto& out : hub_->outs) {
        if (matches(*out, *in)) all.push_back({out->spec.name, out->process, "memory", true});
      }
    }
    return all;
  }

 private:
  [[nodiscard]] std::uint64_t id_of_process() const {
    return reinterpret_cast<std::uintptr_t>(this);
  }
  static bool matches(const Out& out, const In& in) {
    return out.send_events != nullptr && out.spec.name == in.spec.name &&
           out.spec.type == in.spec.type;
  }
  std::uint32_t receivers(const Out& out) const {
    std::uint32_t count = 0;
    for (const auto& in : hub_->ins) count += matches(out, *in) ? 1 : 0;
    return count;
  }
  void lose(Out& out, Drop reason) const {
    if (out.send_events != nullptr) out.send_events->dropped(name(), reason, 1);
  }
  void fail(Out& out, SendReport& report, Drop reason, Code code) const {
    ++report.dropped;
    report.failure = code;
    lose(out, reason);
  }
  void meet(const std::shared_ptr<Out>& out, const std::shared_ptr<In>& in) const {
    if (out->spec.name != in->spec.name) return;
    if (!matches(*out, *in)) {
      const Error error{Code::type_mismatch,
                        out->process + " publishes " + out->spec.type.name + ", " + in->process +
                            " subscribes to " + in->spec.type.name,
                        out->spec.name};
      out->send_events->refused(name(), error);
      in->sink->refused(name(), error);
      return;
    }
    for (const Envelope& message : out->kept) {
      in->queue.emplace_back(message, out);
      in->queue.back().first.meta.replayed = true;
      in->queue.back().first.meta.peer = out->owner;
    }
    in->sink->peer(name(), out->process, out->owner, true);
    out->send_events->listeners(name(), receivers(*out));
  }
  static void run(Hub& hub, In& in) {
    std::unique_lock lock(hub.mutex);
    for (;;) {
      hub.changed.wait(lock, [&] { return in.closed || (!in.queue.empty() && !in.full); });
      if (in.closed) return;
      auto next = std::move(in.queue.front());
      in.queue.pop_front();
      in.full =
          true;  // an on_space() that arrives while the receive sink refuses must not be missed
      lock.unlock();
      hub.changed.notify_all();
      next.first.meta.stamps.arrived = monotonic_now().ns;
      const bool taken = in.sink->deliver(next.first, nullptr);
      lock.lock();
      if (taken)
        in.full = false;
      else
        in.queue.push_front(std::move(next));
    }
  }

  const std::string process_;
  const std::shared_ptr<Hub> hub_;
  PortId next_ = 0;
  std::map<PortId, std::shared_ptr<Out>> outs_;
  std::map<PortId, std::shared_ptr<In>> ins_;
};

/// The hub of a domain, for the life of its transports.
std::shared_ptr<SampleTransport::Hub> hub_of(const std::string& domain) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<SampleTransport::Hub>> hubs;
  const std::lock_guard lock(mutex);
  std::shared_ptr<SampleTransport::Hub> hub = hubs[domain].lock();
  if (!hub) hubs[domain] = hub = std::make_shared<SampleTransport::Hub>();
  return hub;
}

}  // namespace

namespace make {
MadeTransport sample(const TransportContext& context) {
  return {std::make_shared<SampleTransport>(context.process_name, hub_of(context.domain)), nullptr};
}
}  // namespace make

}  // namespace hyphos::transport
