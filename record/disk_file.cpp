#include "record/disk_file.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace hyphos::record {
namespace {

// The reserved space doubles up to the largest step. A memory file system clears reserved space,
// which would take longer than a small recording.
constexpr std::uint64_t kReserveFirst = 1 << 20;
constexpr std::uint64_t kReserveStep = 64 << 20;
constexpr std::uint64_t kPushStep = 8 << 20;
constexpr std::uint64_t kCached = 256 << 20;  // end of the file that stays in the page cache

}  // namespace

Error DiskFile::error(int number) const {
  if (number == ENOSPC || number == EDQUOT) {
    return {Code::exhausted,
            number == ENOSPC ? "the disk is full" : "the disk quota of this user is used up",
            path_.string()};
  }
  return {number == EACCES || number == EPERM || number == EROFS ? Code::permission : Code::io,
          std::string("writing failed: ") + std::strerror(number), path_.string()};
}

Result<DiskFile> DiskFile::create(const std::filesystem::path& path, bool overwrite) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwrite ? O_TRUNC : O_EXCL);
  const int fd = ::open(path.c_str(), flags, 0644);
  if (fd >= 0) return DiskFile(fd, path);
  if (errno == EEXIST) {
    return Error{Code::already_exists, "the file exists. Choose another name, or use --overwrite",
                 path.string()};
  }
  if (errno == ENOENT) {
    return Error{Code::not_found, "the folder does not exist", path.string()};
  }
  const bool denied = errno == EACCES || errno == EPERM || errno == EROFS;
  return Error{denied ? Code::permission : Code::io,
               std::string("cannot be created: ") + std::strerror(errno), path.string()};
}

DiskFile::DiskFile(DiskFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      size_(other.size_),
      reserved_(other.reserved_),
      pushed_(other.pushed_),
      dropped_(other.dropped_),
      can_reserve_(other.can_reserve_) {}

DiskFile& DiskFile::operator=(DiskFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  std::swap(reserved_, other.reserved_);
  std::swap(pushed_, other.pushed_);
  std::swap(dropped_, other.dropped_);
  std::swap(can_reserve_, other.can_reserve_);
  return *this;
}

DiskFile::~DiskFile() {
  if (fd_ >= 0) (void)close(false);
}

// FALLOC_FL_KEEP_SIZE: the file's size is that of the data, even if the process dies.
Result<void> DiskFile::reserve(std::uint64_t end) {
  if (!can_reserve_ || end <= reserved_) return success();
  const std::uint64_t step = std::clamp(reserved_, kReserveFirst, kReserveStep);
  for (const std::uint64_t wanted : {std::max(end, reserved_ + step), end}) {
    int failed = 0;
    do {
      failed = ::fallocate(fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(reserved_),
                           static_cast<off_t>(wanted - reserved_)) == 0
                   ? 0
                   : errno;
    } while (failed == EINTR);
    if (failed == 0) {
      reserved_ = wanted;
      return success();
    }
    if (failed == EOPNOTSUPP || failed == ENOSYS || failed == EINVAL) {
      can_reserve_ = false;  // a full disk is then detected only when it is full
      return success();
    }
    if (failed != ENOSPC && failed != EDQUOT && failed != EFBIG) return error(failed);
    if (wanted == end) return error(failed);
  }
  return success();
}

Result<void> DiskFile::write_all(std::span<const Bytes> parts) {
  std::array<iovec, 256> batch;
  std::size_t next = 0;
  std::size_t done = 0;  // of parts[next]
  std::uint64_t at = size_;
  while (next < parts.size()) {
    std::size_t count = 0;
    std::size_t skip = done;
    for (std::size_t i = next; i < parts.size() && count < batch.size(); ++i, skip = 0) {
      if (parts[i].size() == skip) continue;
      // iovec has no const variant. The data is only read.
      auto* data = const_cast<std::byte*>(parts[i].data());
      batch[count++] = {data + skip, parts[i].size() - skip};
    }
    if (count == 0) break;
    const ssize_t written =
        ::pwritev(fd_, batch.data(), static_cast<int>(count), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int number = written < 0 ? errno : ENOSPC;
      [[maybe_unused]] const int cut = ::ftruncate(fd_, static_cast<off_t>(size_));
      reserved_ = std::min(reserved_, size_);
      return error(number);
    }
    at += static_cast<std::uint64_t>(written);
    auto left = static_cast<std::size_t>(written);
    while (next < parts.size() && left >= parts[next].size() - done) {
      left -= parts[next].size() - done;
      done = 0;
      ++next;
    }
    done += left;
  }
  size_ = at;
  return success();
}

Result<void> DiskFile::append(std::span<const Bytes> parts, std::uint64_t keep) {
  std::uint64_t total = 0;
  for (const Bytes part : parts) total += part.size();
  if (auto got = reserve(size_ + total + keep); !got) return got;
  if (auto wrote = write_all(parts); !wrote) return wrote;
  if (size_ - pushed_ >= kPushStep) push_out();
  return success();
}

void DiskFile::push_out() {
  // Both calls are hints. A file system without support still writes the data.
  [[maybe_unused]] const int begun = ::sync_file_range(
      fd_, static_cast<off_t>(pushed_), static_cast<off_t>(size_ - pushed_), SYNC_FILE_RANGE_WRITE);
  pushed_ = size_;
  if (size_ - dropped_ <= 2 * kCached) return;
  const std::uint64_t to = size_ - kCached;
  ::posix_fadvise(fd_, static_cast<off_t>(dropped_), static_cast<off_t>(to - dropped_),
                  POSIX_FADV_DONTNEED);
  dropped_ = to;
}

Result<void> DiskFile::close(bool sync) {
  if (fd_ < 0) return success();
  int failed = 0;
  if (reserved_ > size_ && ::ftruncate(fd_, static_cast<off_t>(size_)) != 0) failed = errno;
  if (sync && ::fdatasync(fd_) != 0) failed = errno;
  if (::close(std::exchange(fd_, -1)) != 0 && errno != EINTR) failed = errno;
  if (failed != 0) return error(failed);
  return success();
}

}  // namespace hyphos::record
