#include "gateway/net/listener.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gateway/net/address.hpp"
#include "gateway/net/connection.hpp"
#include "tests/gateway/raw_client.hpp"
#include "tests/own_port.hpp"

namespace hyphos::gateway::net {
namespace {

/// Keeps the connections that it accepts.
struct Keeper {
  [[nodiscard]] Listener::Callbacks callbacks() {
    return {.accepted =
                [this](Connection connection) {
                  const std::lock_guard lock(mutex);
                  accepted.push_back(std::move(connection));
                },
            .refused = [this](const Connection&) { ++refused; }};
  }
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock(mutex);
    return accepted.size();
  }
  std::mutex mutex;
  std::vector<Connection> accepted;
  std::atomic<int> refused = 0;
};

TEST(Listener, a_listener_accepts_a_client_and_has_its_address) {
  Loop loop;
  Keeper keeper;
  const auto listener = Listener::open(loop, {}, keeper.callbacks()).or_throw();
  EXPECT_EQ(listener->address(), "127.0.0.1:" + std::to_string(listener->port()));
  RawClient client(listener->port());
  ASSERT_TRUE(eventually([&] { return keeper.count() == 1; }));
  EXPECT_EQ(keeper.accepted[0].peer, local_address(client.fd()).text());
}

TEST(Address, same_host_ignores_ports) {
  const auto of = [](const char* host, std::uint16_t port) {
    return resolve(host, port, false).or_throw().at(0);
  };
  EXPECT_TRUE(of("127.0.0.1", 1).same_host(of("127.0.0.1", 2)));
  EXPECT_FALSE(of("127.0.0.1", 1).same_host(of("127.0.0.2", 1)));
  EXPECT_TRUE(of("::1", 1).same_host(of("::1", 2)));
  EXPECT_FALSE(of("::1", 1).same_host(of("::2", 1)));
  EXPECT_FALSE(of("127.0.0.1", 1).same_host(of("::1", 1)));
  EXPECT_TRUE(of("::ffff:192.0.2.1", 1).same_host(of("192.0.2.1", 1)));
  EXPECT_FALSE(of("::ffff:192.0.2.1", 1).same_host(of("192.0.2.2", 1)));
  EXPECT_FALSE(Address().same_host(Address()));
}

TEST(Address, addresses_of_this_machine_are_recognised) {
  for (const char* own : {"127.0.0.1", "127.0.1.1", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(numeric_address(own).value().is_own()) << own;
  }
  for (const char* other : {"192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "0.0.0.0",
                            "::", "224.0.0.1", "255.255.255.255"}) {
    EXPECT_FALSE(numeric_address(other).value().is_own()) << other;
  }
  EXPECT_FALSE(Address().is_own());
  // The address from which this machine would reach another one, if it could.
  const UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  Address remote = resolve("192.0.2.1", 9, false).or_throw().at(0);
  if (::connect(fd.get(), remote.get(), remote.size) == 0) {
    EXPECT_TRUE(local_address(fd.get()).is_own()) << local_address(fd.get()).text();
  }
}

TEST(Address, only_numbers_are_numeric_addresses) {
  EXPECT_EQ(numeric_address("192.0.2.1").value().text(), "192.0.2.1:0");
  EXPECT_EQ(numeric_address("2001:db8::1").value().host(), "2001:db8::1");
  for (const char* name : {"", "localhost", "robot.invalid", "1.2.3.4.5", "[::1]"}) {
    EXPECT_FALSE(numeric_address(name).has_value()) << name;
  }
}

TEST(Connection, local_sockets_buffer_at_most_1_mib) {
  Loop loop;
  Keeper keeper;
  const auto listener = Listener::open(loop, {}, keeper.callbacks()).or_throw();
  const Connection asked =
      connect("127.0.0.1", listener->port(), Duration::from_seconds(5)).or_throw();
  ASSERT_TRUE(eventually([&] { return keeper.count() == 1; }));

  constexpr std::size_t kAll = std::size_t{64} << 20;
  const int to = asked.fd.get();
  const int from = keeper.accepted[0].fd.get();
  std::vector<char> block(std::size_t{4} << 20);
  for (std::size_t sent = 0, read = 0; read < kAll;) {
    const ssize_t more = ::send(from, block.data(), std::min(block.size(), kAll - sent), 0);
    if (more > 0) sent += static_cast<std::size_t>(more);
    const ssize_t got = ::recv(to, block.data(), block.size(), 0);
    ASSERT_NE(got, 0);
    if (got > 0) read += static_cast<std::size_t>(got);
  }

  for (const int fd : {to, from}) {
    int most = 0;
    socklen_t size = sizeof most;
    ASSERT_EQ(::getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &most, &size), 0);
    EXPECT_LE(most, 1 << 20);
  }
}

TEST(Listener, the_error_of_a_taken_port_names_the_process) {
  Loop loop;
  Keeper keeper;
  const auto first = Listener::open(loop, {}, keeper.callbacks()).or_throw();
  const auto second = Listener::open(loop, {.port = first->port()}, keeper.callbacks());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::already_exists);
  EXPECT_NE(second.error().message.find(std::to_string(first->port())), std::string::npos);
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos)
      << second.error().message;
}

TEST(Listener, a_port_is_free_after_its_listener_ended) {
  Loop loop;
  Keeper keeper;
  const std::uint16_t port = test::own_port();
  auto first = Listener::open(loop, {.port = port}, keeper.callbacks()).or_throw();
  RawClient client(port);
  ASSERT_TRUE(eventually([&] { return keeper.count() == 1; }));
  first.reset();
  const auto second = Listener::open(loop, {.port = port}, keeper.callbacks());
  EXPECT_TRUE(second) << second.error().to_string();
}

TEST(Listener, clients_beyond_the_limit_are_refused_until_one_leaves) {
  Loop loop;
  Keeper keeper;
  const auto listener = Listener::open(loop, {.max_clients = 2}, keeper.callbacks()).or_throw();
  RawClient first(listener->port());
  RawClient second(listener->port());
  ASSERT_TRUE(eventually([&] { return keeper.count() == 2; }));
  RawClient third(listener->port());
  EXPECT_TRUE(third.sees_end());
  EXPECT_EQ(keeper.refused, 1);
  EXPECT_EQ(listener->clients(), 2U);
  {
    const std::lock_guard lock(keeper.mutex);
    keeper.accepted.pop_back();
  }
  RawClient fourth(listener->port());
  EXPECT_TRUE(eventually([&] { return keeper.count() == 2; }));
}

TEST(Listener, a_listener_may_end_in_its_own_callback) {
  Loop loop;
  std::unique_ptr<Listener> listener;
  std::atomic<bool> gone = false;
  std::promise<void> made;
  Listener::Callbacks callbacks;
  callbacks.accepted = [&, ready = made.get_future().share()](const Connection&) {
    ready.wait();
    listener.reset();
    gone = true;
  };
  listener = Listener::open(loop, {}, std::move(callbacks)).or_throw();
  const std::uint16_t port = listener->port();
  made.set_value();
  RawClient client(port);
  EXPECT_TRUE(eventually([&] { return gone.load(); }));
}

TEST(Listener, an_unknown_host_is_an_error) {
  Loop loop;
  const auto listener = Listener::open(loop, {.host = "no.such.host.invalid"}, {});
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().code, Code::not_found);
}

TEST(Connect, connecting_to_a_closed_port_fails_at_once) {
  const auto connection = connect("localhost", test::own_port(), Duration::from_seconds(10));
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, Code::disconnected);
}

TEST(Connect, connecting_to_a_silent_peer_times_out) {
  // Its backlog is full, so the kernel completes no further connection.
  const UniqueFd deaf(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(deaf.get(), reinterpret_cast<sockaddr*>(&any), sizeof any), 0);
  ASSERT_EQ(::listen(deaf.get(), 0), 0);
  const std::uint16_t port = local_address(deaf.get()).port();
  std::vector<Connection> filling;
  Result<Connection> last = Connection{};
  for (int i = 0; i < 4 && last; ++i) {
    last = connect("127.0.0.1", port, Duration::from_ms(100));
    if (last) filling.push_back(std::move(*last));
  }
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, Code::timeout);
}

}  // namespace
}  // namespace hyphos::gateway::net
