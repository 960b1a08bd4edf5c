#include "gateway/net/address.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>

namespace hyphos::gateway::net {
namespace {

/// Collects the inodes of the sockets that listen on `port`, from a table of the kernel (proc(5)):
/// "0: 0100007F:2710 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 98765 …"
void add_listening(const char* table, std::uint16_t port, std::set<std::string>& inodes) {
  constexpr std::string_view kListening = "0A";
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
        timeout >> inode;
    const auto colon = local.rfind(':');
    if (state != kListening || colon == std::string::npos) continue;
    std::uint16_t found = 0;
    std::from_chars(local.data() + colon + 1, local.data() + local.size(), found, 16);
    if (found == port) inodes.insert("socket:[" + inode + "]");
  }
}

bool holds(const std::filesystem::path& process, const std::set<std::string>& sockets) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator fd(process / "fd", ignored), end; !ignored && fd != end;
       fd.increment(ignored)) {
    const auto target = std::filesystem::read_symlink(fd->path(), ignored);
    if (!ignored && sockets.contains(target.string())) return true;
    ignored.clear();  // the descriptor was closed meanwhile
  }
  return false;
}

/// An IPv6 address in network byte order. An IPv4 address is in its mapped form.
using HostBytes = std::array<std::uint8_t, 16>;
constexpr HostBytes kMapped4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0};
constexpr HostBytes kLoopback6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr std::size_t kMappedPrefix = 12;

/// Nothing for an address of another family.
std::optional<HostBytes> host_bytes(const sockaddr* address) {
  HostBytes host = kMapped4;
  if (address->sa_family == AF_INET) {
    sockaddr_in socket{};
    std::memcpy(&socket, address, sizeof socket);
    std::memcpy(host.data() + kMappedPrefix, &socket.sin_addr, sizeof socket.sin_addr);
    return host;
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 socket{};
  std::memcpy(&socket, address, sizeof socket);
  std::memcpy(host.data(), &socket.sin6_addr, host.size());
  return host;
}

bool is_loopback(const HostBytes& host) {
  const bool is_v4 = std::equal(host.begin(), host.begin() + kMappedPrefix, kMapped4.begin());
  return is_v4 ? host[kMappedPrefix] == 127 : host == kLoopback6;
}

/// Adds the addresses of a host. Returns 0, or the error of getaddrinfo(3).
int look_up(const std::string& host, std::uint16_t port, int flags, std::vector<Address>& found) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* first = nullptr;
  const int failed = ::getaddrinfo(host.empty() ? nullptr : host.c_str(),
                                   std::to_string(port).c_str(), &hints, &first);
  if (failed != 0) return failed;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(first, &::freeaddrinfo);
  for (const addrinfo* each = first; each != nullptr; each = each->ai_next) {
    Address& address = found.emplace_back();
    address.size = each->ai_addrlen;
    std::copy_n(reinterpret_cast<const char*>(each->ai_addr), each->ai_addrlen,
                reinterpret_cast<char*>(&address.storage));
  }
  return 0;
}

}  // namespace

std::uint16_t Address::port() const {
  if (storage.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  }
  if (storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
  }
  return 0;
}

std::string Address::host() const {
  std::array<char, NI_MAXHOST> host{};
  if (::getnameinfo(get(), size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "?";
  }
  return host.data();
}

std::string Address::text() const {
  const std::string number = std::to_string(port());
  if (storage.ss_family == AF_INET6) return "[" + host() + "]:" + number;
  return host() + ":" + number;
}

bool Address::same_host(const Address& other) const {
  const auto host = host_bytes(get());
  return host && host == host_bytes(other.get());
}

bool Address::is_own() const {
  const auto host = host_bytes(get());
  if (!host) return false;
  if (is_loopback(*host)) return true;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(first, &::freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr != nullptr && host_bytes(one->ifa_addr) == host) return true;
  }
  return false;
}

std::optional<Address> numeric_address(const std::string& host) {
  std::vector<Address> found;
  if (host.empty() || look_up(host, 0, AI_NUMERICHOST, found) != 0) return std::nullopt;
  return found.front();
}

Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port, bool to_listen) {
  std::vector<Address> found;
  const int failed = look_up(host, port, to_listen ? AI_PASSIVE : 0, found);
  if (failed != 0) {
    return Error{Code::not_found,
                 "unknown host '" + host + "' (" + ::gai_strerror(failed) +
                     "). Give its address, or add it to /etc/hosts",
                 host + ":" + std::to_string(port)};
  }
  return found;
}

Address local_address(int fd) {
  Address address;
  address.size = sizeof address.storage;
  if (::getsockname(fd, address.get(), &address.size) != 0) address = {};
  return address;
}

Address peer_address(int fd) {
  Address address;
  address.size = sizeof address.storage;
  if (::getpeername(fd, address.get(), &address.size) != 0) address = {};
  return address;
}

std::string who_listens(std::uint16_t port) {
  std::set<std::string> sockets;
  add_listening("/proc/net/tcp", port, sockets);
  add_listening("/proc/net/tcp6", port, sockets);
  if (sockets.empty()) return {};
  std::error_code ignored;
  for (std::filesystem::directory_iterator process("/proc", ignored), end;
       !ignored && process != end; process.increment(ignored)) {
    const std::string pid = process->path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!holds(process->path(), sockets)) continue;
    std::string name;
    std::getline(std::ifstream(process->path() / "comm") >> std::ws, name);
    return "process " + pid + " (" + name + ")";
  }
  return {};
}

}  // namespace hyphos::gateway::net
