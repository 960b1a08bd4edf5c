#include "netem/tun.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/ipv6.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <utility>

namespace hyphos::lab {
namespace {

/// Packets that the kernel buffers while this program is not running.
constexpr int kDeviceQueue = 2000;

Error failed(const std::string& what, const std::string& where) {
  const int number = errno;
  const bool refused = number == EPERM || number == EACCES;
  const Code code = refused            ? Code::permission
                    : number == ENOENT ? Code::not_found
                    : number == EBUSY  ? Code::already_exists
                                       : Code::io;
  std::string text = what + ": " + std::strerror(number);
  if (refused) text += " (run as root)";
  return {code, text, where};
}

/// Enters the namespace of a file until destruction.
class Inside {
 public:
  explicit Inside(int target)
      : home_(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)),
        entered_(home_.get() >= 0 && setns(target, CLONE_NEWNET) == 0) {}
  ~Inside() {
    // Abort, because in a foreign namespace the next device would go to the wrong host.
    if (entered_ && setns(home_.get(), CLONE_NEWNET) != 0) std::abort();
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  [[nodiscard]] bool entered() const { return entered_; }

 private:
  UniqueFd home_;
  bool entered_;
};

sockaddr ipv4(std::uint32_t ip) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(ip);
  sockaddr any{};
  static_assert(sizeof any == sizeof address);
  std::memcpy(&any, &address, sizeof any);
  return any;
}

/// Writes a setting of the network namespace, below /proc/sys/net. Returns false if it is absent.
bool set_network(const std::string& name, const char* value) {
  const UniqueFd file(open(("/proc/sys/net/" + name).c_str(), O_WRONLY | O_CLOEXEC));
  return file.get() >= 0 && write(file.get(), value, std::strlen(value)) > 0;
}

/// Disables IPv6, whose announcements would fill the link. A kernel without IPv6 needs no change.
void without_ipv6() { (void)set_network("ipv6/conf/default/disable_ipv6", "1"); }

/// Settings of the namespace before the device exists, so that the device inherits them.
Result<void> prepare(const Host& host, const Frames& frames) {
  const auto needed = [&](const std::string& name, const char* value) -> Result<void> {
    if (set_network(name, value)) return success();
    const bool v6 = name.starts_with("ipv6");
    return failed("the setting net/" + name + " cannot be written" +
                      (v6 ? " (without IPv6 in the kernel, leave out the IPv6 subnet)" : ""),
                  host.name_space);
  };
  if (frames.ipv6.empty()) {
    without_ipv6();
  } else {
    // The addresses are unique, so their detection would only delay the start. No router exists.
    for (const char* one :
         {"disable_ipv6", "accept_dad", "dad_transmits", "router_solicitations", "accept_ra"}) {
      if (auto set = needed("ipv6/conf/default/" + std::string(one), "0"); !set) return set;
    }
  }
  if (!frames.forwards) return success();
  // A relay receives and sends on the same device. The kernel would tell the sender to skip it.
  for (const char* scope : {"all", "default"}) {
    for (const char* one : {"send_redirects", "accept_redirects", "rp_filter"}) {
      const std::string name = "ipv4/conf/" + std::string(scope) + "/" + one;
      if (auto set = needed(name, "0"); !set) return set;
    }
  }
  if (auto set = needed("ipv4/ip_forward", "1"); !set) return set;
  if (frames.ipv6.empty()) return success();
  (void)set_network("ipv6/conf/default/accept_redirects", "0");
  return needed("ipv6/conf/all/forwarding", "1");
}

/// Adds a global address of IPv6. The link-local address follows from the MAC address.
Result<void> add_ipv6(const Host& host, const std::string& device, const std::string& address) {
  const std::size_t slash = address.find('/');
  in6_ifreq request{};
  if (slash == std::string::npos ||
      inet_pton(AF_INET6, address.substr(0, slash).c_str(), &request.ifr6_addr) != 1) {
    return Error{Code::invalid_config, "'" + address + "' is not an IPv6 address with a prefix",
                 host.name_space};
  }
  request.ifr6_prefixlen = static_cast<std::uint32_t>(std::stoul(address.substr(slash + 1)));
  request.ifr6_ifindex = static_cast<int>(if_nametoindex(device.c_str()));
  const UniqueFd control(socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (ioctl(control.get(), SIOCSIFADDR, &request) != 0) {
    return failed("the IPv6 address cannot be set", host.name_space);
  }
  return success();
}

Result<void> configure(const Host& host, const std::string& device, unsigned mtu,
                       const Frames* frames) {
  const UniqueFd control(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  device.copy(request.ifr_name, IFNAMSIZ - 1);
  const auto set = [&](unsigned long what) { return ioctl(control.get(), what, &request) == 0; };
  bool good = true;
  if (frames != nullptr) {
    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    std::ranges::copy(frames->mac, request.ifr_hwaddr.sa_data);
    good = set(SIOCSIFHWADDR);
  }
  request.ifr_addr = ipv4(host.ip);
  good = good && set(SIOCSIFADDR);
  request.ifr_netmask = ipv4(host.netmask());
  good = good && set(SIOCSIFNETMASK);
  request.ifr_mtu = static_cast<int>(mtu);
  good = good && set(SIOCSIFMTU);
  request.ifr_qlen = kDeviceQueue;
  good = good && set(SIOCSIFTXQLEN);
  good = good && set(SIOCGIFFLAGS);
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP | IFF_MULTICAST);
  good = good && set(SIOCSIFFLAGS);
  if (!good) return failed("the device cannot be configured", host.name_space);
  if (frames == nullptr || frames->ipv6.empty()) return success();
  return add_ipv6(host, device, frames->ipv6);
}

}  // namespace

Result<Tun> Tun::open(const Host& host, const std::string& device, unsigned mtu,
                      const Frames* frames) {
  const std::string path = "/run/netns/" + host.name_space;
  const UniqueFd name_space(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (name_space.get() < 0) return failed("the network namespace cannot be opened", path);
  const Inside inside(name_space.get());
  if (!inside.entered()) return failed("the network namespace cannot be entered", path);
  if (frames == nullptr) {
    without_ipv6();
  } else if (auto prepared = prepare(host, *frames); !prepared) {
    return prepared.error();
  }
  UniqueFd tun(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (tun.get() < 0) {
    return failed("no TUN devices: run modprobe tun (in a container: --device /dev/net/tun)",
                  "/dev/net/tun");
  }
  ifreq request{};
  request.ifr_flags = static_cast<short>((frames == nullptr ? IFF_TUN : IFF_TAP) | IFF_NO_PI);
  device.copy(request.ifr_name, IFNAMSIZ - 1);
  if (ioctl(tun.get(), TUNSETIFF, &request) != 0) {
    return failed("the device '" + device + "' cannot be created", host.name_space);
  }
  if (auto done = configure(host, device, mtu, frames); !done) return done.error();
  // Opened inside, this file shows the namespace as long as it is open.
  UniqueFd statistics(::open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC));
  if (statistics.get() < 0) return failed("cannot be opened", "/proc/thread-self/net/dev");
  Tun made(std::move(tun), std::move(statistics), device);
  if (frames == nullptr) return made;
  made.index_ = if_nametoindex(device.c_str());
  made.route_ = UniqueFd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (made.route_.get() < 0) return failed("no netlink socket", host.name_space);
  return made;
}

std::size_t Tun::read(std::span<std::byte> into) {
  const ssize_t got = ::read(fd_.get(), into.data(), into.size());
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

bool Tun::write(std::span<const std::byte> packet) {
  return ::write(fd_.get(), packet.data(), packet.size()) == static_cast<ssize_t>(packet.size());
}

std::uint64_t Tun::overrun() const {
  std::array<char, 8192> text{};
  const ssize_t got = pread(statistics_.get(), text.data(), text.size(), 0);
  std::istringstream lines(
      std::string(text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got))));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    const std::size_t name = line.find_first_not_of(' ');
    if (colon == std::string::npos || line.substr(name, colon - name) != device_) continue;
    // Eight numbers for received data, then bytes, packets, errors and drops of sent data.
    std::istringstream numbers(line.substr(colon + 1));
    std::uint64_t value = 0;
    for (int i = 0; i < 12; ++i) numbers >> value;
    return value;
  }
  return 0;
}

}  // namespace hyphos::lab
