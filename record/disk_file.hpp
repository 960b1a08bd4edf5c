#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "hyphos/result.hpp"

namespace hyphos::record {

/// A file that is written from its start to its end, each write whole or not at all.
///
/// Not thread-safe; calls block for as long as the disk takes. Bytes go to the operating system at
/// once, without a copy in this process, so that they survive the death of the process; writing to
/// the disk is begun early, so that the system does not stop us later to catch up, and what lies on
/// the disk leaves the page cache. Space is reserved ahead: of a full disk one hears before the
/// last byte is gone, and what was promised by `keep` can still be written then.
class DiskFile {
 public:
  using Bytes = std::span<const std::byte>;

  static Result<DiskFile> create(const std::filesystem::path& path, bool overwrite);
  DiskFile(DiskFile&& other) noexcept;
  DiskFile& operator=(DiskFile&& other) noexcept;
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;
  ~DiskFile();

  /// Appends all parts. On an error the file is as long as before; `exhausted`: the disk is full.
  /// `keep` bytes remain reserved behind what is written.
  Result<void> append(std::span<const Bytes> parts, std::uint64_t keep);
  /// Gives reserved space back and closes. With `sync`, waits until all is on the disk.
  Result<void> close(bool sync);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  DiskFile(int fd, std::filesystem::path path) : fd_(fd), path_(std::move(path)) {}
  Result<void> reserve(std::uint64_t end);
  Result<void> write_all(std::span<const Bytes> parts);
  void push_out();
  [[nodiscard]] Error error(int number) const;

  int fd_ = -1;
  std::filesystem::path path_;
  std::uint64_t size_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t pushed_ = 0;   // writing to the disk has begun up to here
  std::uint64_t dropped_ = 0;  // out of the page cache up to here
  bool can_reserve_ = true;
};

}  // namespace hyphos::record
