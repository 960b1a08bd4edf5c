#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shm/domain.hpp"
#include "shm/layout.hpp"
#include "shm/os.hpp"

namespace hyphos::shm {

/// A participant's .ctl file, our own or somebody else's: who it is, its doorbell and its tables.
class Control {
 public:
  Control() = default;
  /// Makes and locks the file; the participant is alive from here on, until the lock's descriptor
  /// is closed.
  [[nodiscard]] static Result<Control> create(const Domain& domain, std::uint64_t id,
                                              std::string_view process_name);
  /// Maps that of another. Code::unsupported: another layout version. Code::corrupt: not ours.
  [[nodiscard]] static Result<Control> open(const Domain& domain, std::uint64_t id);

  [[nodiscard]] ControlHeader& header() const {
    return *reinterpret_cast<ControlHeader*>(mapping_.data());
  }
  /// A part of the tables that is mapped; there is at least the first.
  [[nodiscard]] TableChunk& chunk(std::size_t i) const {
    return *reinterpret_cast<TableChunk*>(chunks_[i].data());
  }
  [[nodiscard]] bool valid() const { return mapping_.data() != nullptr; }
  [[nodiscard]] bool locked() const { return is_locked(lock_); }

  // What a foreign header says, copied once at open and within bounds.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] std::uint64_t start() const { return start_; }
  [[nodiscard]] std::uint64_t pid_space() const { return pid_space_; }
  [[nodiscard]] const std::string& process() const { return process_; }
  [[nodiscard]] const std::string& host() const { return host_; }

  // The current tables; one thread at a time, since the calls map added chunks. Empty: the writer
  // is changing a record, and sends a notice after the change.
  [[nodiscard]] std::optional<std::vector<EndpointRecord>> endpoints();
  [[nodiscard]] std::optional<std::vector<RingRecord>> rings();

  // Our own tables; one thread at a time. A serial of 0 frees the record. Fails only if a record
  // with a new highest index needs a further chunk, and there is no memory for it.
  Result<void> set_endpoint(std::uint32_t index, const EndpointRecord& record);
  Result<void> set_ring(std::uint32_t index, const RingRecord& record);

 private:
  /// Maps chunks up to this number; false if the file has fewer.
  [[nodiscard]] bool map_chunks(std::size_t wanted);
  [[nodiscard]] Result<void> make_room(std::uint32_t index);
  template <typename T>
  [[nodiscard]] std::optional<std::vector<T>> read_table(
      std::array<Published<T>, kChunkRecords> TableChunk::* table, std::uint32_t used);

  Mapping mapping_;  // the header
  std::vector<Mapping> chunks_;
  std::string where_;
  bool own_ = false;
  Fd lock_;
  std::uint64_t id_ = 0;
  int pid_ = 0;
  std::uint64_t start_ = 0;
  std::uint64_t pid_space_ = 0;
  std::string process_;
  std::string host_;
};

}  // namespace hyphos::shm
