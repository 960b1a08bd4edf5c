#include "gateway/net/address.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
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

std::string Address::text() const {
  std::array<char, NI_MAXHOST> host{};
  if (::getnameinfo(get(), size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return "?";
  }
  const std::string number = std::to_string(port());
  if (storage.ss_family == AF_INET6) return "[" + std::string(host.data()) + "]:" + number;
  return std::string(host.data()) + ":" + number;
}

bool Address::same_host(const Address& other) const {
  if (storage.ss_family != other.storage.ss_family) return false;
  if (storage.ss_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(&other.storage)->sin_addr.s_addr;
  }
  if (storage.ss_family == AF_INET6) {
    const auto* one = reinterpret_cast<const sockaddr_in6*>(&storage);
    const auto* another = reinterpret_cast<const sockaddr_in6*>(&other.storage);
    return IN6_ARE_ADDR_EQUAL(&one->sin6_addr, &another->sin6_addr) != 0;
  }
  return false;
}

Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port, bool to_listen) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  const int failed =
      ::getaddrinfo(host.empty() ? nullptr : host.c_str(), service.c_str(), &hints, &found);
  if (failed != 0) {
    return Error{Code::not_found,
                 "unknown host '" + host + "' (" + ::gai_strerror(failed) +
                     "). Give its address, or add it to /etc/hosts",
                 host + ":" + service};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Address& address = addresses.emplace_back();
    address.size = each->ai_addrlen;
    std::copy_n(reinterpret_cast<const char*>(each->ai_addr), each->ai_addrlen,
                reinterpret_cast<char*>(&address.storage));
  }
  return addresses;
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
