// A ROS-TCP client connects, sends the input and disconnects. From time to time the gateway must
// serve a well-behaved client as usual. At the end, nothing of the other clients may be left.
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/unique_fd.hpp"
#include "gateway/ros_tcp/ros_tcp.hpp"
#include "tests/gateway/fake_graph.hpp"

using namespace hyphos;
using namespace hyphos::gateway;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

struct Served {
  Served() {
    facade.types().add_message({.name = "a/B", .md5 = {}, .type_hash = {}, .text = {}});
    facade.types().add_service(
        {.name = "a/S", .md5 = {}, .type_hash = {}, .request = {}, .reply = {}});
    gateway = open_ros_tcp(facade, {}).or_throw();
  }
  /// From a separate address, because so many connections would use up the ports of one address.
  [[nodiscard]] UniqueFd connect() {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + ++clients % 60'000);
    require(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(gateway->port());
    require(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    return fd;
  }

  std::uint32_t clients = 0;
  FakeGraph facade;
  std::unique_ptr<Protocol> gateway;
};

/// Receives until `wanted` has arrived or the connection ends.
std::string receive(int fd, std::string_view wanted) {
  std::string all;
  pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
  while (wanted.empty() || all.find(wanted) == std::string::npos) {
    require(::poll(&waited, 1, 10'000) > 0);
    char bytes[4096];
    const ssize_t got = ::recv(fd, bytes, sizeof bytes, 0);
    if (got <= 0) break;
    all.append(bytes, static_cast<std::size_t>(got));
  }
  return all;
}

void expect_good_client(Served& served) {
  using namespace std::string_view_literals;
  const UniqueFd good = served.connect();
  constexpr auto kPing = "\6\0\0\0__ping\x13\0\0\0{\"request_time\":77}"sv;
  require(::send(good.get(), kPing.data(), kPing.size(), MSG_NOSIGNAL) ==
          static_cast<ssize_t>(kPing.size()));
  const std::string_view wanted = "{\"request_time\":77}";
  require(receive(good.get(), wanted).ends_with(wanted));
}

/// Leaves libFuzzer's alarm to another thread. In this thread it would interrupt poll(), which
/// looks like a timeout.
bool leave_alarms_to_others() {
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  return ::pthread_sigmask(SIG_BLOCK, &alarms, nullptr) == 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Served served;
  static const bool undisturbed = leave_alarms_to_others();  // after the other threads have started
  require(undisturbed);
  static int runs = 0;
  {
    const UniqueFd client = served.connect();
    (void)::send(client.get(), data, size, MSG_NOSIGNAL);
    ::shutdown(client.get(), SHUT_WR);
    (void)receive(client.get(), {});  // to the end, so that the whole input has been handled
  }
  if (++runs % 64 == 0) expect_good_client(served);
  if (runs % 64 == 0) {
    pollfd none{.fd = -1, .events = 0, .revents = 0};
    for (int i = 0; i < 5000 && served.facade.open() > 0; ++i) (void)::poll(&none, 1, 1);
    require(served.facade.open() == 0);
  }
  return 0;
}
