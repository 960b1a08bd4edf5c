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

/// A participant's .ctl file, our own or another's: identity, doorbell and tables.
class Control {
 public:
  Control() = default;
  /// Creates and locks the file. The participant is alive from here on, until the descriptor of the
  /// lock is closed.
  [[nodiscard]] static Result<Control> create(const Domain& domain, std::uint64_t id,
                                              std::string_view process_name);
  /// Maps another participant's file. Code::unsupported: another layout version. Code::corrupt: not
  /// a Hyphos file.
  [[nodiscard]] static Result<Control> open(const Domain& domain, std::uint64_t id);

  [[nodiscard]] ControlHeader& header() const {
    return *reinterpret_cast<ControlHeader*>(mapping_.data());
  }
  /// A mapped part of the tables. At least the first one is mapped.
  [[nodiscard]] TableChunk& chunk(std::size_t i) const {
    return *reinterpret_cast<TableChunk*>(chunks_[i].data());
  }
  [[nodiscard]] bool valid() const { return mapping_.data() != nullptr; }
  [[nodiscard]] bool locked() const { return is_locked(lock_); }

  // The fields of a foreign header, copied once at open and checked.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] int pid() const { return pid_; }
  [[nodiscard]] std::uint64_t start() const { return start_; }
  [[nodiscard]] std::uint64_t pid_space() const { return pid_space_; }
  [[nodiscard]] const std::string& process() const { return process_; }
  [[nodiscard]] const std::string& host() const { return host_; }

  // The current tables. One thread at a time, because the calls map added chunks. Empty: the writer
  // is changing a record and sends a notice after the change.
  [[nodiscard]] std::optional<std::vector<EndpointRecord>> endpoints();
  [[nodiscard]] std::optional<std::vector<RingRecord>> rings();

  // Changes our own tables. One thread at a time. A serial of 0 frees the record. Fails only if a
  // new highest index needs a further chunk for which there is no memory.
  Result<void> set_endpoint(std::uint32_t index, const EndpointRecord& record);
  Result<void> set_ring(std::uint32_t index, const RingRecord& record);

 private:
  /// Maps chunks up to this number. False if the file has fewer.
  [[nodiscard]] bool map_chunks(std::size_t wanted);
  [[nodiscard]] Result<void> make_room(std::uint32_t index);
  template <typename T>
  [[nodiscard]] std::optional<std::vector<T>> read_table(
      std::array<Published<T>, kChunkRecords> TableChunk::* table, std::uint32_t used);

  Mapping mapping_;  // the header
  std::vector<Mapping> chunks_;
  std::string where_;
  bool own_ = false;
  UniqueFd lock_;
  std::uint64_t id_ = 0;
  int pid_ = 0;
  std::uint64_t start_ = 0;
  std::uint64_t pid_space_ = 0;
  std::string process_;
  std::string host_;
};

}  // namespace hyphos::shm
