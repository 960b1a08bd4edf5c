#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "shm/control.hpp"
#include "shm/domain.hpp"
#include "shm/pool.hpp"
#include "shm/slot_ref.hpp"

namespace hyphos::shm {

struct ParticipantOptions {
  std::filesystem::path base = "/dev/shm";
  std::string domain = "0";
  std::string process_name;
  std::uint64_t pool_limit_bytes = 0;  ///< 0: a quarter of the file system, at most 2 GiB
  std::size_t metrics_bytes = 0;
};

/// Our own presence in a domain: files, lock, pool and the slots that we hold of others.
///
/// It lives until the transport is gone and the last Buffer that came from it or through it is
/// dropped. The lock makes our holds count, so the lock must outlive them.
class Participant : public std::enable_shared_from_this<Participant> {
 public:
  [[nodiscard]] static Result<std::shared_ptr<Participant>> create(
      const ParticipantOptions& options);
  ~Participant();
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

  [[nodiscard]] std::uint64_t id() const { return control_.id(); }
  [[nodiscard]] const Domain& domain() const { return domain_; }
  [[nodiscard]] Control& control() { return control_; }
  [[nodiscard]] Pool& pool() { return *pool_; }
  [[nodiscard]] SlotRefs& held() { return held_; }
  [[nodiscard]] const UniqueFd& socket() const { return socket_; }
  [[nodiscard]] std::span<std::byte> metrics() const { return metrics_.bytes(); }
  /// Extends the metrics by `bytes`. Empty: there is no memory. One thread at a time. `bytes` and
  /// the present size are multiples of the page size.
  [[nodiscard]] std::span<std::byte> grow_metrics(std::size_t bytes);

  /// Notifies all other participants to read our tables again.
  void notify_all() const;
  /// Leaves the files in place at the end, for receivers that have not read everything. They remove
  /// these files like those of a dead participant.
  void leave_files() { leave_files_ = true; }

 private:
  Participant() = default;
  Result<void> enter(const ParticipantOptions& options);

  Domain domain_;
  Control control_;
  UniqueFd socket_;
  Mapping metrics_;
  std::vector<Mapping> more_metrics_;
  std::unique_ptr<Pool> pool_;
  SlotRefs held_;
  bool leave_files_ = false;
};

}  // namespace hyphos::shm
