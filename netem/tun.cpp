#include "netem/tun.hpp"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
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

/// Disables IPv6, whose announcements would fill the link.
void without_ipv6() {
  const UniqueFd file(open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY | O_CLOEXEC));
  if (file.get() >= 0 && write(file.get(), "1", 1) != 1) {
    return;  // a kernel without IPv6 needs no change
  }
}

Result<void> configure(const Host& host, const std::string& device, unsigned mtu) {
  const UniqueFd control(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  device.copy(request.ifr_name, IFNAMSIZ - 1);
  const auto set = [&](unsigned long what) { return ioctl(control.get(), what, &request) == 0; };
  request.ifr_addr = ipv4(host.ip);
  bool good = set(SIOCSIFADDR);
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
  return success();
}

}  // namespace

Result<Tun> Tun::open(const Host& host, const std::string& device, unsigned mtu) {
  const std::string path = "/run/netns/" + host.name_space;
  const UniqueFd name_space(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (name_space.get() < 0) return failed("the network namespace cannot be opened", path);
  const Inside inside(name_space.get());
  if (!inside.entered()) return failed("the network namespace cannot be entered", path);
  without_ipv6();
  UniqueFd tun(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (tun.get() < 0) {
    return failed("no TUN devices: run modprobe tun (in a container: --device /dev/net/tun)",
                  "/dev/net/tun");
  }
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  device.copy(request.ifr_name, IFNAMSIZ - 1);
  if (ioctl(tun.get(), TUNSETIFF, &request) != 0) {
    return failed("the device '" + device + "' cannot be created", host.name_space);
  }
  if (auto done = configure(host, device, mtu); !done) return done.error();
  // Opened inside, this file shows the namespace as long as it is open.
  UniqueFd statistics(::open("/proc/thread-self/net/dev", O_RDONLY | O_CLOEXEC));
  if (statistics.get() < 0) return failed("cannot be opened", "/proc/thread-self/net/dev");
  return Tun(std::move(tun), std::move(statistics), device);
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
