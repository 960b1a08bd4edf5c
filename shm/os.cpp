#include "shm/os.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>

#include "base/futex.hpp"
#include "base/hot.hpp"
#include "hyphos/time.hpp"

namespace hyphos::shm {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Result<Mapping> Mapping::map(int fd, std::size_t offset, std::size_t size, Access access,
                             bool populate) {
  const int protection = access == Access::write ? PROT_READ | PROT_WRITE : PROT_READ;
  const int flags = MAP_SHARED | (populate ? MAP_POPULATE : 0);
  void* at = ::mmap(nullptr, size, protection, flags, fd, static_cast<off_t>(offset));
  if (at == MAP_FAILED) {
    return os_error(errno, "cannot map " + std::to_string(size) + " bytes of shared memory", "");
  }
  Mapping mapping;
  mapping.data_ = static_cast<std::byte*>(at);
  mapping.size_ = size;
  return mapping;
}

void Mapping::populate() const {
#ifdef MADV_POPULATE_READ
  // If the kernel refuses (older versions), the pages are faulted in when they are read.
  ::madvise(data_, size_, MADV_POPULATE_READ);
#endif
}

Error os_error(int error, std::string what, std::string where) {
  Code code = Code::io;
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      code = Code::permission;
      break;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      code = Code::exhausted;
      break;
    case ENOENT:
      code = Code::not_found;
      break;
    case EEXIST:
      code = Code::already_exists;
      break;
    case EOPNOTSUPP:
    case ENOSYS:
      code = Code::unsupported;
      break;
    default:
      break;
  }
  return Error{code, std::move(what) + ": " + std::strerror(error), std::move(where)};
}

Result<void> reserve(const UniqueFd& file, std::uint64_t offset, std::uint64_t size,
                     const std::string& where) {
  int error = EINTR;
  while (error == EINTR) {
    error = ::posix_fallocate(file.get(), static_cast<off_t>(offset), static_cast<off_t>(size));
  }
  if (error == ENOSPC || error == EDQUOT || error == ENOMEM || error == EFBIG) {
    struct statvfs info{};
    const std::uint64_t free =
        ::fstatvfs(file.get(), &info) == 0 ? std::uint64_t{info.f_bavail} * info.f_frsize : 0;
    return Error{Code::exhausted,
                 "needs " + std::to_string(size) + " bytes of shared memory, but only " +
                     std::to_string(free) +
                     " are free. Run 'hyphos shm clean', or enlarge the file system",
                 where};
  }
  if (error != 0) return os_error(error, "cannot reserve shared memory", where);
  return {};
}

HYPHOS_HOT void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                           std::int64_t deadline_ns, std::uint32_t as) {
  (void)futex::wait_until(word, expected, deadline_ns, futex::Scope::shared, as);
}

HYPHOS_HOT void futex_wake(const std::atomic<std::uint32_t>& word, std::uint32_t whom) {
  futex::wake_masked(word, whom, futex::Scope::shared);
}

std::uint64_t random_id() {
  std::uint64_t id = 0;
  while (id == 0 || id == ~std::uint64_t{0}) {
    if (::getrandom(&id, sizeof id, 0) != static_cast<ssize_t>(sizeof id)) {
      id = static_cast<std::uint64_t>(monotonic_now().ns) ^
           (static_cast<std::uint64_t>(::getpid()) << 40);
    }
  }
  return id;
}

namespace {

using StatText = std::array<char, 1024>;

/// Reads /proc/PID/stat. The result is the end of the second field: the command in brackets, which
/// may contain anything. Null if it cannot be read.
const char* read_stat(int pid, StatText& text) {
  text = {};
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || ::read(file.get(), text.data(), text.size() - 1) <= 0) return nullptr;
  return std::strrchr(text.data(), ')');
}

}  // namespace

bool is_stopped(int pid) {
  StatText text;
  const char* const at = read_stat(pid, text);
  if (at == nullptr || at[1] != ' ') return false;
  return at[2] == 'T' || at[2] == 't';
}

std::uint64_t process_start(int pid) {
  StatText text;
  const char* at = read_stat(pid, text);
  if (at == nullptr) return 0;
  constexpr int kFieldsToStart = 20;  // "start time" is field 22
  for (int field = 0; field < kFieldsToStart; ++field) {
    at = std::strchr(at + 1, ' ');
    if (at == nullptr) return 0;
  }
  std::uint64_t ticks = 0;
  std::from_chars(at + 1, text.data() + text.size(), ticks);
  return ticks;
}

std::uint64_t pid_namespace() {
  struct stat info{};
  return ::stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string to_hex(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::uint64_t from_hex(std::string_view text) {
  std::uint64_t value = 0;
  if (text.size() != 16) return 0;
  for (const char c : text) {
    if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) return 0;
  }
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

}  // namespace hyphos::shm
