#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "gateway/net/address.hpp"
#include "gateway/ros1/datagram.hpp"
#include "gateway/ros1/header.hpp"
#include "gateway/ros1/udpros_server.hpp"
#include "tests/gateway/raw_client.hpp"
#include "tests/gateway/ros1/types.hpp"

namespace hyphos::gateway::ros1 {
namespace {

const std::string kMd5 = "992ce8a1687cec8c8bd883ec73ca41d1";

/// The socket of a subscriber. It joins the blocks of messages as roscpp does.
class UdpReceiver {
 public:
  UdpReceiver() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any), 0);
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  [[nodiscard]] std::int32_t port() const { return net::local_address(fd_.get()).port(); }
  void close() { fd_ = {}; }

  /// The next message, without its length.
  std::string message() {
    std::string bytes;
    std::size_t blocks = 1;
    for (std::size_t block = 0; block < blocks; ++block) {
      std::array<std::byte, 65536> datagram{};
      const ssize_t got = ::recv(fd_.get(), datagram.data(), datagram.size(), 0);
      if (got < static_cast<ssize_t>(kDatagramHead)) return "no datagram";
      largest = std::max(largest, static_cast<std::size_t>(got));
      std::uint16_t number = 0;
      std::memcpy(&connection, datagram.data(), sizeof connection);
      std::memcpy(&number, datagram.data() + 6, sizeof number);
      if (block == 0) {
        EXPECT_EQ(datagram[4], std::byte{0});
        EXPECT_NE(datagram[5], std::byte{0});
        EXPECT_NE(std::to_integer<int>(datagram[5]), message_id);
        message_id = std::to_integer<int>(datagram[5]);
        blocks = number;
      } else {
        EXPECT_EQ(datagram[4], std::byte{1});
        EXPECT_EQ(std::to_integer<int>(datagram[5]), message_id);
        EXPECT_EQ(number, block);
      }
      bytes.append(reinterpret_cast<const char*>(datagram.data()) + kDatagramHead,
                   static_cast<std::size_t>(got) - kDatagramHead);
    }
    EXPECT_EQ(read_length(std::as_bytes(std::span(bytes))), bytes.size() - 4);
    return bytes.substr(4);
  }

  std::int32_t connection = 0;
  int message_id = 0;
  std::size_t largest = 0;

 private:
  UniqueFd fd_;
};

class Udpros : public testing::Test {
 protected:
  Udpros() {
    add_types(facade_);
    offered_ = {facade_.types().message("std_msgs/String").or_throw(), true};
  }
  ~Udpros() override {
    udpros_.stop();
    loops_.reset();
  }
  Udpros(const Udpros&) = delete;
  Udpros& operator=(const Udpros&) = delete;

  static Value fields(const std::string& md5) {
    const auto bytes = write_header(
        {{"topic", "/chat"}, {"md5sum", md5}, {"callerid", "/ear"}, {"type", "std_msgs/String"}});
    return Binary{std::string(reinterpret_cast<const char*>(bytes.data()) + 4, bytes.size() - 4)};
  }
  static UdprosServer::Caller caller(const std::string& from, std::vector<std::string> named = {}) {
    Origin origin{net::numeric_address(from).value()};
    for (const auto& one : named) origin.named.push_back(net::numeric_address(one).value());
    return {"/ear", std::move(origin)};
  }
  Result<Value::Array> ask(std::int32_t port, std::int32_t size = 1500,
                           const std::string& md5 = kMd5) {
    return udpros_.add(caller("127.0.0.1"), "/chat", offered_,
                       list_of("UDPROS", fields(md5), "127.0.0.1", port, size), "here");
  }
  Result<Value::Array> ask_from(const UdprosServer::Caller& who, const std::string& host,
                                std::int32_t port = 1000) {
    return udpros_.add(who, "/chat", offered_, list_of("UDPROS", fields(kMd5), host, port, 1500),
                       "here");
  }
  void publish(const std::string& text) {
    if (!publisher_) {
      publisher_ = facade_.topics()
                       .open_publisher({"/robot"}, "/chat", "std_msgs/String", Form::ros1, {})
                       .or_throw();
    }
    publisher_->publish(std::as_bytes(std::span(text))).or_throw();
  }
  [[nodiscard]] bool has_subscriber() const {
    for (const TopicInfo& topic : facade_.topics().list()) {
      if (!topic.subscribers.empty()) return true;
    }
    return false;
  }

  FakeGraph facade_;
  std::unique_ptr<net::Loops> loops_ = std::make_unique<net::Loops>();
  LoanBudget budget_{std::size_t{1} << 20};
  const Context context_{facade_, *loops_, budget_, "/hyphos", "ros1", Options()};
  UdprosServer udpros_{context_};
  TcprosServer::Topic offered_;
  std::unique_ptr<ClientPublisher> publisher_;
};

TEST(Datagrams, a_message_has_as_many_blocks_as_its_bytes_need) {
  EXPECT_EQ(count_datagrams(1, 9), 1);
  EXPECT_EQ(count_datagrams(92, 100), 1);
  EXPECT_EQ(count_datagrams(93, 100), 2);
  EXPECT_EQ(count_datagrams(65'535, 9), 65'535);
  EXPECT_EQ(count_datagrams(65'536, 9), std::nullopt);
  EXPECT_EQ(count_datagrams(1, 8), std::nullopt);
  const auto head = write_datagram_head({0x01020304, DatagramKind::further, 7, 0x0506});
  constexpr std::array<unsigned char, 8> kBytes{4, 3, 2, 1, 1, 7, 6, 5};
  EXPECT_EQ(std::memcmp(head.data(), kBytes.data(), kBytes.size()), 0);
}

TEST_F(Udpros, messages_arrive_in_blocks_of_the_asked_size) {
  UdpReceiver ear;
  const auto reply = ask(ear.port(), 100).or_throw();
  ASSERT_EQ(reply.size(), 6U);
  EXPECT_EQ(reply[0].text(), "UDPROS");
  EXPECT_EQ(reply[1].text(), "here");
  EXPECT_EQ(*reply[4].get_if<std::int32_t>(), 100);
  const Header header =
      parse_header(std::as_bytes(std::span(reply[5].get_if<Binary>()->bytes))).or_throw();
  EXPECT_EQ(field(header, "md5sum"), kMd5);
  EXPECT_EQ(field(header, "callerid"), "/hyphos");
  EXPECT_EQ(field(header, "latching"), "1");
  ASSERT_TRUE(eventually([&] { return has_subscriber(); }));
  for (const std::size_t size : {0, 1, 88, 89, 5000}) {
    const std::string text(size, static_cast<char>('a' + size % 20));
    publish(text);
    EXPECT_EQ(ear.message(), text);
    EXPECT_EQ(ear.connection, *reply[3].get_if<std::int32_t>());
  }
  EXPECT_EQ(ear.largest, 100U);
  for (int i = 0; i < 300; ++i) {  // the number of a message skips 0
    publish("x");
    EXPECT_EQ(ear.message(), "x");
  }
  const auto connections = udpros_.connections();
  ASSERT_EQ(connections.size(), 1U);
  EXPECT_EQ(connections[0].peer, "/ear");
  EXPECT_EQ(connections[0].messages, 305U);
  EXPECT_EQ(connections[0].dropped, 0U);
}

TEST_F(Udpros, a_wrong_request_is_refused_with_the_reason) {
  EXPECT_EQ(ask(1000, 1500, "0123").error().code, Code::type_mismatch);
  EXPECT_EQ(ask(0).error().code, Code::corrupt);
  EXPECT_EQ(ask(70'000).error().code, Code::corrupt);
  EXPECT_EQ(ask(1000, 8).error().code, Code::corrupt);
  const auto here = caller("127.0.0.1");
  EXPECT_EQ(udpros_.add(here, "/chat", offered_, list_of("UDPROS"), "here").error().code,
            Code::corrupt);
  TcprosServer::Topic log = offered_;
  log.type.name = "rosgraph_msgs/Log";
  EXPECT_EQ(udpros_
                .add(here, "/rosout", log, list_of("UDPROS", fields(kMd5), "127.0.0.1", 1000, 1500),
                     "here")
                .error()
                .code,
            Code::unsupported);
  EXPECT_TRUE(udpros_.connections().empty());
}

TEST_F(Udpros, datagrams_go_to_no_other_machine_than_the_caller) {
  struct Case {
    std::string from;
    std::string host;
    std::vector<std::string> named;  ///< the addresses of a name
  };
  const std::vector<Case> others{
      {"203.0.113.71", "203.0.113.72", {}},
      {"203.0.113.71", "127.0.0.1", {}},  // the robot itself
      {"127.0.0.1", "203.0.113.72", {}},
      {"203.0.113.71", "victim", {"203.0.113.72", "2001:db8:71::72"}},
      {"203.0.113.71", "localhost", {"::1", "127.0.0.1"}},
      {"127.0.0.1", "victim", {"203.0.113.72"}},
      {"127.0.0.1", "0.0.0.0", {}},
      {"127.0.0.1", "255.255.255.255", {}},
      {"127.0.0.1", "224.0.0.1", {}},
      {"::1", "2001:db8:71::72", {}},
      {"127.0.0.1", "203.0.113.72", {"127.0.0.1"}},  // a number is not looked up
  };
  for (const auto& [from, host, named] : others) {
    const auto refused = ask_from(caller(from, named), host);
    ASSERT_FALSE(refused.ok()) << from << ' ' << host;
    EXPECT_EQ(refused.error().code, Code::permission);
    const std::string text = refused.error().to_string();
    for (const std::string& part :
         {"/ear at " + from, "'" + host + "'", "Set ROS_IP of that node to " + from}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
  }
  const auto unknown = ask_from(caller("127.0.0.1"), "nobody");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, Code::not_found);
  EXPECT_NE(unknown.error().to_string().find("'nobody', an unknown host. Set ROS_IP"),
            std::string::npos);
  EXPECT_TRUE(udpros_.connections().empty());
}

TEST_F(Udpros, the_host_of_the_caller_is_accepted_in_every_form) {
  const auto address_after = [&](const std::string& from, const std::string& host,
                                 std::vector<std::string> named = {}) {
    const auto reply = ask_from(caller(from, std::move(named)), host);
    EXPECT_TRUE(reply.ok()) << from << ' ' << host << ' ' << reply.error().to_string();
    const auto all = udpros_.connections();
    return all.size() == 1 ? all.front().address : "";
  };
  EXPECT_EQ(address_after("203.0.113.71", "203.0.113.71"), "203.0.113.71:1000");
  EXPECT_EQ(address_after("203.0.113.71", "robot", {"2001:db8::1", "203.0.113.71"}),
            "203.0.113.71:1000");
  EXPECT_EQ(address_after("::ffff:203.0.113.71", "203.0.113.71"), "203.0.113.71:1000");
  EXPECT_EQ(address_after("2001:db8::1", "2001:db8::1"), "[2001:db8::1]:1000");
  EXPECT_EQ(address_after("127.0.0.1", "localhost", {"::1", "127.0.0.1"}), "127.0.0.1:1000");
  EXPECT_EQ(address_after("127.0.0.1", "this-machine", {"127.0.1.1"}), "127.0.1.1:1000");
}

TEST_F(Udpros, only_names_for_topics_on_offer_are_looked_up) {
  const auto server = TcprosServer::open(context_).or_throw();
  server->offer_topic("/chat", offered_.type, true);
  const auto name = [&](const std::string& topic, const Value& protocols) {
    return UdprosServer::name_to_look_up({"requestTopic", {"/ear", topic, protocols}}, *server);
  };
  const auto udp = [](const std::string& host) {
    return list_of("UDPROS", fields(kMd5), host, 1000, 1500);
  };
  EXPECT_EQ(name("/chat", list_of(udp("robot"))), "robot");
  EXPECT_EQ(name("/chat", list_of(list_of("ODD"), udp("robot"))), "robot");
  EXPECT_EQ(name("/chat", list_of(list_of("TCPROS"), udp("robot"))), "");
  EXPECT_EQ(name("/chat", list_of(udp("127.0.0.1"))), "");
  EXPECT_EQ(name("/chat", list_of(udp(std::string(300, 'x')))), "");
  EXPECT_EQ(name("/chat", list_of(list_of("UDPROS", "robot"))), "");
  EXPECT_EQ(name("/other", list_of(udp("robot"))), "");
  EXPECT_EQ(name("/chat", 7), "");
  loops_.reset();
}

TEST_F(Udpros, a_subscriber_that_asks_again_is_replaced) {
  UdpReceiver before;
  UdpReceiver now;
  (void)ask(before.port()).or_throw();
  ASSERT_TRUE(eventually([&] { return has_subscriber(); }));
  const auto reply = ask(now.port()).or_throw();
  EXPECT_EQ(udpros_.connections().size(), 1U);
  ASSERT_TRUE(eventually([&] {
    publish("again");
    return udpros_.connections()[0].messages > 0;
  }));
  EXPECT_EQ(now.message(), "again");
  EXPECT_EQ(now.connection, *reply[3].get_if<std::int32_t>());
}

TEST_F(Udpros, a_subscriber_that_has_left_gets_nothing_more) {
  const auto server = TcprosServer::open(context_).or_throw();
  server->offer_topic("/chat", offered_.type, true);
  UdpReceiver ear;
  GraphState state;
  (void)ask(ear.port()).or_throw();
  udpros_.look(state, *server);  // this state may be older than the subscriber
  EXPECT_EQ(udpros_.connections().size(), 1U);
  state.subscribers["/chat"] = {"/ear"};
  udpros_.look(state, *server);
  EXPECT_EQ(udpros_.connections().size(), 1U);
  state.subscribers["/chat"] = {"/other"};
  udpros_.look(state, *server);
  EXPECT_TRUE(udpros_.connections().empty());
  EXPECT_TRUE(eventually([&] { return !has_subscriber(); }));

  state.subscribers["/chat"] = {"/ear"};
  (void)ask(ear.port()).or_throw();
  ASSERT_TRUE(eventually([&] { return has_subscriber(); }));
  ear.close();
  EXPECT_TRUE(eventually([&] {
    publish("to a closed port");
    udpros_.look(state, *server);
    return udpros_.connections().empty();
  }));
  EXPECT_TRUE(eventually([&] { return !has_subscriber(); }));

  UdpReceiver next;
  (void)ask(next.port()).or_throw();
  server->withdraw_topic("/chat");
  udpros_.look(state, *server);
  EXPECT_TRUE(udpros_.connections().empty());
  loops_.reset();
}

}  // namespace
}  // namespace hyphos::gateway::ros1
