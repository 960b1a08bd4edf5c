#include "shm/domain.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hyphos::shm {
namespace {

bool good_name(std::string_view name) {
  constexpr std::size_t kMaxName = 32;
  return !name.empty() && name.size() <= kMaxName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_';
         });
}

// Opens a directory in which only this user can have created files.
Result<UniqueFd> private_directory(int parent, const std::string& name, const std::string& path,
                                   bool make) {
  constexpr mode_t kPrivate = 0700;
  UniqueFd directory;
  int error = 0;
  // The last participant may have removed the directory between the two calls (D5).
  for (int i = 0; i < kEntryAttempts && !directory.valid(); ++i) {
    if (make && ::mkdirat(parent, name.c_str(), kPrivate) != 0 && errno != EEXIST) {
      return os_error(errno, "cannot make the shared-memory directory", path);
    }
    directory =
        UniqueFd(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    error = directory.valid() ? 0 : errno;
    if (!make || error != ENOENT) break;
  }
  if (!directory.valid()) {
    if (error == ELOOP || error == ENOTDIR) {
      return Error{Code::permission,
                   "is a link or a file instead of a directory. Remove it and start again", path};
    }
    return os_error(error, "cannot open the shared-memory directory", path);
  }
  struct stat info{};
  if (::fstat(directory.get(), &info) != 0) return os_error(errno, "cannot be examined", path);
  if (info.st_uid != ::geteuid()) {
    return Error{Code::permission,
                 "belongs to user " + std::to_string(info.st_uid) +
                     ", not to you. Ask that user or root to remove it",
                 path};
  }
  if ((info.st_mode & 0777) != kPrivate) {
    return Error{Code::permission, "is open to other users. Run: chmod 700 " + path, path};
  }
  return directory;
}

std::string fd_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// The path through /proc is short enough for a socket address, wherever the directory is.
sockaddr_un socket_address(const UniqueFd& directory, std::uint64_t id) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fd_path(directory.get()) + "/" + socket_name(id);
  std::memcpy(address.sun_path, path.c_str(), std::min(path.size(), sizeof address.sun_path - 1));
  return address;
}

}  // namespace

bool lock_for_life(const UniqueFd& file) {
  struct flock lock = whole_file();
  return ::fcntl(file.get(), F_OFD_SETLK, &lock) == 0;
}

bool is_locked(const UniqueFd& file) {
  struct flock lock = whole_file();
  return ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::uint64_t owner_of(std::string_view file_name) {
  constexpr std::size_t kIdSize = 16;
  if (file_name.size() <= kIdSize || file_name[kIdSize] != '.') return 0;
  const std::string_view rest = file_name.substr(kIdSize);
  const bool ours = rest == ".ctl" || rest == ".sock" || rest == ".metrics" ||
                    rest.ends_with(".pool") || rest.ends_with(".lane") || rest.ends_with(".types");
  return ours ? from_hex(file_name.substr(0, kIdSize)) : 0;
}

Result<Domain> Domain::open(const std::filesystem::path& base, const std::string& name) {
  return open(base, name, true);
}

Result<Domain> Domain::find(const std::filesystem::path& base, const std::string& name) {
  return open(base, name, false);
}

Result<Domain> Domain::open(const std::filesystem::path& base, const std::string& name, bool make) {
  if (!good_name(name)) {
    return Error{Code::invalid_config,
                 "a domain is 1 to 32 letters, digits, '-' or '_', not '" + name + "'", "domain"};
  }
  UniqueFd parent(::open(base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent.valid()) return os_error(errno, "cannot open the shared-memory file system", base);
  const std::string user = "hyphos-" + std::to_string(::geteuid());
  auto home = private_directory(parent.get(), user, base / user, make);
  if (!home) return home.error();
  Domain domain;
  domain.name_ = name;
  domain.path_ = base / user / name;
  auto directory = private_directory(home->get(), name, domain.path_, make);
  if (!directory) return directory.error();
  domain.home_ = std::move(*home);
  domain.directory_ = std::move(*directory);
  return domain;
}

bool Domain::remove_if_empty() const {
  return !removed() && ::unlinkat(home_.get(), name_.c_str(), AT_REMOVEDIR) == 0;
}

bool Domain::removed() const {
  struct stat info{};
  return ::fstat(directory_.get(), &info) == 0 && info.st_nlink == 0;
}

namespace {
Domain::Space to_space(const struct statvfs& info) {
  return {std::uint64_t{info.f_bavail} * info.f_frsize,
          std::uint64_t{info.f_blocks} * info.f_frsize};
}
}  // namespace

Domain::Space Domain::space() const {
  struct statvfs info{};
  return ::fstatvfs(directory_.get(), &info) == 0 ? to_space(info) : Space{};
}

Domain::Space Domain::space_at(const std::filesystem::path& base) {
  struct statvfs info{};
  return ::statvfs(base.c_str(), &info) == 0 ? to_space(info) : Space{};
}

Result<UniqueFd> Domain::create(std::uint64_t size, const std::string& wanted_name) const {
  const std::string where = path_ + "/" + wanted_name;
  UniqueFd file(::openat(directory_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.valid()) return os_error(errno, "cannot create a shared-memory file", where);
  if (auto reserved = reserve(file, 0, size, where); !reserved) return reserved.error();
  return file;
}

Result<void> Domain::publish(const UniqueFd& file, const std::string& file_name) const {
  if (::linkat(AT_FDCWD, fd_path(file.get()).c_str(), directory_.get(), file_name.c_str(),
               AT_SYMLINK_FOLLOW) != 0) {
    return os_error(errno, "cannot name a shared-memory file (is /proc mounted?)",
                    path_ + "/" + file_name);
  }
  return {};
}

Result<UniqueFd> Domain::open_file(const std::string& file_name, std::uint64_t& size,
                                   bool writable) const {
  const int mode = writable ? O_RDWR : O_RDONLY;
  UniqueFd file(
      ::openat(directory_.get(), file_name.c_str(), mode | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info{};
  if (!file.valid() || ::fstat(file.get(), &info) != 0) {
    return os_error(errno, "cannot open", path_ + "/" + file_name);
  }
  if (!S_ISREG(info.st_mode)) return Error{Code::corrupt, "is not a file", path_ + "/" + file_name};
  // A sparse file could raise SIGBUS on a full disk (D4), so it is not a Hyphos file.
  if (info.st_blocks * 512 < info.st_size) {
    return Error{Code::corrupt, "is not fully allocated", path_ + "/" + file_name};
  }
  size = static_cast<std::uint64_t>(info.st_size);
  return file;
}

void Domain::remove(const std::string& file_name) const {
  ::unlinkat(directory_.get(), file_name.c_str(), 0);
}

std::vector<std::string> Domain::files() const {
  std::vector<std::string> names;
  const int fd = ::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = fd >= 0 ? ::fdopendir(fd) : nullptr;
  if (stream == nullptr) {
    if (fd >= 0) ::close(fd);
    return names;
  }
  while (const dirent* entry = ::readdir(stream)) names.emplace_back(entry->d_name);
  ::closedir(stream);
  return names;
}

std::vector<std::uint64_t> Domain::participants() const {
  std::vector<std::uint64_t> ids;
  for (const std::string& name : files()) {
    if (name.ends_with(".ctl") && owner_of(name) != 0) ids.push_back(owner_of(name));
  }
  return ids;
}

bool Domain::is_dead(std::uint64_t id) const {
  const UniqueFd file(::openat(directory_.get(), control_name(id).c_str(),
                               O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  // Any other failure (no free descriptors, for example) is no proof of death.
  if (!file.valid()) return errno == ENOENT;
  return !is_locked(file);
}

std::vector<std::string> Domain::remove_all(std::uint64_t id) const {
  std::vector<std::string> removed;
  for (std::string& name : files()) {
    if (owner_of(name) == id && !name.ends_with(".ctl")) removed.push_back(std::move(name));
  }
  // The .ctl is removed last: while it exists, the next cleaner can finish after a cleaner is
  // killed here.
  removed.push_back(control_name(id));
  std::erase_if(removed, [&](const std::string& name) {
    return ::unlinkat(directory_.get(), name.c_str(), 0) != 0;
  });
  return removed;
}

std::vector<std::string> Domain::clean() const {
  std::vector<std::uint64_t> owners;
  for (const std::string& name : files()) {
    if (const std::uint64_t id = owner_of(name); id != 0) owners.push_back(id);
  }
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  std::vector<std::string> removed;
  for (const std::uint64_t id : owners) {
    if (!is_dead(id)) continue;
    for (std::string& name : remove_all(id)) removed.push_back(std::move(name));
  }
  return removed;
}

Result<UniqueFd> Domain::bind_socket(std::uint64_t id) const {
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return os_error(errno, "cannot make a socket", path_);
  const sockaddr_un address = socket_address(directory_, id);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return os_error(errno, "cannot bind the notice socket", path_ + "/" + socket_name(id));
  }
  return socket;
}

void Domain::notify(const UniqueFd& socket, std::uint64_t id) const {
  const sockaddr_un address = socket_address(directory_, id);
  const auto send = [&](const UniqueFd& from) {
    const char byte = 1;
    return ::sendto(from.get(), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&address), sizeof address) == 1;
  };
  if (send(socket) || errno != EAGAIN) return;
  // Either the receiver's buffer is full, or ours is full of notices that stopped processes have
  // not read. A new socket distinguishes the two cases, because its datagrams outlive it.
  const UniqueFd fresh(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (fresh.valid()) (void)send(fresh);
}

std::vector<std::string> domains(const std::filesystem::path& base) {
  std::vector<std::string> names;
  std::error_code error;
  const auto home = base / ("hyphos-" + std::to_string(::geteuid()));
  for (std::filesystem::directory_iterator at(home, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_directory(error) && good_name(at->path().filename().string())) {
      names.push_back(at->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hyphos::shm
