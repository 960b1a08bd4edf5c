#include "gateway/ros2/reach.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstring>

namespace hyphos::gateway::ros2 {
namespace {

constexpr std::chrono::seconds kReadAgain(1);

std::set<Address> read_addresses() {
  std::set<Address> found;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return found;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    sockaddr_in socket{};
    std::memcpy(&socket, one->ifa_addr, sizeof socket);
    Address address{};
    std::memcpy(address.data(), &socket.sin_addr, address.size());
    if (!is_loopback(address)) found.insert(address);
  }
  ::freeifaddrs(first);
  return found;
}

}  // namespace

Address address_of(std::string_view text) {
  in_addr parsed{};
  Address address{};
  if (::inet_pton(AF_INET, std::string(text).c_str(), &parsed) == 1) {
    std::memcpy(address.data(), &parsed, address.size());
  }
  return address;
}

bool OwnAddresses::contains(const Address& address) {
  if (is_loopback(address)) return true;
  const MutexLock lock(mutex_);
  if (!known_.contains(address)) read();
  return known_.contains(address);
}

std::vector<Address> OwnAddresses::list() {
  const MutexLock lock(mutex_);
  read();
  return {known_.begin(), known_.end()};
}

void OwnAddresses::read() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_read_) return;
  next_read_ = now + kReadAgain;
  known_ = read_addresses();
}

Reach reach_of(const std::string& host) {
  if (host.empty()) return Reach::all;
  return is_loopback(address_of(host)) ? Reach::machine : Reach::address;
}

}  // namespace hyphos::gateway::ros2
