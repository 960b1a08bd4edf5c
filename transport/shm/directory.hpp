#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <unordered_set>
#include <vector>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "transport/shm/control_events.hpp"
#include "transport/shm/matcher.hpp"
#include "transport/shm/parts.hpp"
#include "transport/shm/ports.hpp"
#include "transport/shm/receiver.hpp"
#include "transport/shm/sender.hpp"
#include "transport/shm/shm.hpp"

namespace hyphos::transport::shm_detail {

/// The control half of the shared-memory transport: the other participants from their arrival to
/// the removal of their files, and the ports of this process from open() to close(). The rings
/// between both are the decision of its Matcher.
///
/// Threads: one of its own, which sleeps until participants arrive, change or die. It calls the
/// sender and the receiver, and neither calls the directory.
///
/// Lock order: the mutex here > every lock of the ports, the sender and the receiver. No lock is
/// held during calls into the graph. The calls of the directory's thread run one after another.
class Directory {
 public:
  Directory(const ShmConfig& config, Ports& ports, Sender& sender, Receiver& receiver)
      : config_(config),
        ports_(ports),
        sender_(sender),
        receiver_(receiver),
        matcher_(config, sender, receiver, events_) {}

  /// Announces the open ports, and accepts calls from here on.
  [[nodiscard]] Result<void> start(std::shared_ptr<shm::Participant> self);
  /// Closes all ports and ends the thread. After Ports::begin_stop().
  void stop();
  /// Notifies the peers that this process has left.
  void leave();
  /// In a forked child, which does not have the thread.
  void abandon_thread() { leak(thread_); }

  // See Transport. Any thread.
  [[nodiscard]] Result<PortId> open(const ChannelSpec& spec, ReceiveSink* sink,
                                    SendEvents* send_events);
  void close(PortId id);
  [[nodiscard]] std::vector<PeerStatus> peers() const;

  /// Reads the tables of all peers again, soon, on the directory's thread. Any thread.
  void signal_control() { events_.signal(); }

 private:
  /// The state of the directory about another participant.
  struct KnownPeer {
    std::shared_ptr<Peer> peer;
    UniqueFd pid_fd;          ///< not valid in another pid namespace
    bool sent_to_us = false;  ///< it had a descriptor ring to us at some time
    std::uint64_t seen_version = ~std::uint64_t{0};  ///< of its tables
    std::uint64_t seen_ours = ~std::uint64_t{0};     ///< Matcher::version()
    std::uint32_t populated = 0;                     ///< segments whose pages were faulted in
  };

  void run();
  void signal_control_and_peers();
  void detach(const std::shared_ptr<Port>& port);
  /// Returns the calls into the graph that are due.
  [[nodiscard]] std::vector<std::function<void()>> refresh();
  void connect(std::uint64_t id) HYPHOS_REQUIRES(mutex_);
  void log_cannot_connect(const Error& why) HYPHOS_REQUIRES(mutex_);
  void reconcile(KnownPeer& known) HYPHOS_REQUIRES(mutex_);
  void reap(KnownPeer& known) HYPHOS_REQUIRES(mutex_);
  [[nodiscard]] bool forget(const KnownPeer& known) HYPHOS_REQUIRES(mutex_);
  [[nodiscard]] bool is_dead(std::uint64_t id) const HYPHOS_REQUIRES(mutex_);
  void remove_files(std::uint64_t id) HYPHOS_REQUIRES(mutex_);
  void clean_tombstones() HYPHOS_REQUIRES(mutex_);

  const ShmConfig& config_;
  Ports& ports_;
  Sender& sender_;
  Receiver& receiver_;
  std::shared_ptr<shm::Participant> self_;
  ControlEvents events_;
  std::atomic<bool> notify_peers_{false};

  mutable Mutex mutex_;
  std::map<std::uint64_t, KnownPeer> peers_ HYPHOS_GUARDED_BY(mutex_);
  /// Files that are not ours to read.
  std::unordered_set<std::uint64_t> ignored_ HYPHOS_GUARDED_BY(mutex_);
  /// Dead participants, with the removal time of their files.
  std::map<std::uint64_t, std::int64_t> tombstones_ HYPHOS_GUARDED_BY(mutex_);
  Matcher matcher_ HYPHOS_GUARDED_BY(mutex_);
  log::OncePerSecond connect_log_ HYPHOS_GUARDED_BY(mutex_);

  std::thread thread_;
};

}  // namespace hyphos::transport::shm_detail
