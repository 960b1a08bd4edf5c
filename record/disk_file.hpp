#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "hyphos/result.hpp"

namespace hyphos::record {

/// A file that is written sequentially. Each write succeeds completely or has no effect.
///
/// Not thread-safe. Calls block while the disk is busy. Bytes go to the operating system
/// immediately, without a copy in this process, so that they survive the death of the process.
/// Write-back to the disk starts early, so that the kernel does not throttle the writer later.
/// Written pages are then dropped from the page cache. Space is reserved ahead. So a full disk is
/// detected before the last byte is used, and the `keep` bytes can still be written.
class DiskFile {
 public:
  using Bytes = std::span<const std::byte>;

  static Result<DiskFile> create(const std::filesystem::path& path, bool overwrite);
  DiskFile(DiskFile&& other) noexcept;
  DiskFile& operator=(DiskFile&& other) noexcept;
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;
  ~DiskFile();

  /// Appends all parts. On an error the file keeps its previous length. `exhausted`: the disk is
  /// full. `keep` bytes remain reserved after the written ones.
  Result<void> append(std::span<const Bytes> parts, std::uint64_t keep);
  /// Releases reserved space and closes the file. With `sync`, waits until all data is on the disk.
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
  std::uint64_t pushed_ = 0;   // write-back has been started up to here
  std::uint64_t dropped_ = 0;  // dropped from the page cache up to here
  bool can_reserve_ = true;
};

}  // namespace hyphos::record
