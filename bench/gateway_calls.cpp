// Programs of gateway_calls.py, which measures service calls through the gateways:
//
//     bench_gateway_calls serve DOMAIN                       a node with the service /echo
//     bench_gateway_calls idle DOMAIN PROCESSES PUBLISHERS   a robot that does nothing
//     bench_gateway_calls call PROTOCOL PORT SECONDS         a client, one call after the other
//
// The client uses plain sockets, so that the rate is the rate of the gateway.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/hyphos.hpp"
#include "lab/common/clock.hpp"
#include "lab/common/stats.hpp"

namespace {

using hyphos::lab::now_ns;

struct Nothing {
  static constexpr std::string_view hyphos_type = "bench.Nothing";
  std::int64_t value = 0;
};

hyphos::Node open_node(const std::string& domain, const std::string& name) {
  hyphos::RuntimeOptions options;
  options.domain = domain;
  options.process = name;
  return hyphos::Node::open(name, options).or_throw();
}

void report_ready() {
  std::printf("ready\n");
  std::fflush(stdout);
}

/// The request and the reply have one field of the same type and number, so each request is also
/// its reply.
int serve(const std::string& domain) {
  const hyphos::Node node = open_node(domain, "server");
  const auto type = [](const std::string& name) {
    return hyphos::make_type_id("ros1.bench_msgs.srv." + name, hyphos::Encoding::protobuf);
  };
  const auto service =
      node.raw_service("echo", hyphos::service_type(type("EchoRequest"), type("EchoResponse")), {},
                       [](const hyphos::RawRequest& request) {
                         const hyphos::Envelope* const bytes = request.message().encoded();
                         if (bytes == nullptr) return;
                         (void)request.reply({hyphos::Buffer::copy_of(bytes->payload.bytes()), {}});
                       });
  if (!service) throw std::runtime_error(service.error().to_string());
  report_ready();
  return node.spin();
}

int idle(const std::string& domain, int processes, int publishers) {
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      const hyphos::Node node = open_node(domain, "idle" + std::to_string(p));
      std::vector<hyphos::Publisher<Nothing>> kept;
      for (int i = 0; i < publishers; ++i) {
        kept.push_back(
            node.publisher<Nothing>("idle" + std::to_string(p) + "_" + std::to_string(i)));
      }
      report_ready();
      _exit(node.spin());
    }
    children.push_back(child);
  }
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  int signal = 0;
  sigwait(&ends, &signal);
  for (const pid_t child : children) kill(child, SIGTERM);
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  return 0;
}

class Socket {
 public:
  explicit Socket(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
      throw std::runtime_error("cannot connect to the gateway");
    }
  }
  ~Socket() { ::close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void write(std::string_view bytes) const {
    if (::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("the gateway has closed the connection");
    }
  }
  std::string read(std::size_t size) {
    while (waiting_.size() < size) fill();
    std::string bytes = waiting_.substr(0, size);
    waiting_.erase(0, size);
    return bytes;
  }
  std::string read_until(std::string_view end) {
    std::size_t at = 0;
    while ((at = waiting_.find(end)) == std::string::npos) fill();
    return read(at + end.size());
  }

 private:
  void fill() {
    char buffer[4096];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    if (got <= 0) throw std::runtime_error("the gateway has closed the connection");
    waiting_.append(buffer, static_cast<std::size_t>(got));
  }

  int fd_;
  std::string waiting_;
};

template <typename Number>
std::string little(Number value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
std::uint32_t length(const std::string& bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}
std::string with_length(const std::string& bytes) {
  return little(static_cast<std::uint32_t>(bytes.size())) + bytes;
}

/// A client of one protocol. It throws if a reply is not the request.
class Client {
 public:
  virtual ~Client() = default;
  virtual void call(std::int64_t value) = 0;

 protected:
  static void check(bool right) {
    if (!right) throw std::runtime_error("wrong reply");
  }
};

class RosTcpClient final : public Client {
 public:
  explicit RosTcpClient(std::uint16_t port) : socket_(port) {
    send("__ros_service", R"({"topic":"/echo","message_name":"bench_msgs/Echo"})");
  }
  void call(std::int64_t value) override {
    socket_.write(frame("__request", R"({"srv_id":101})") + frame("/echo", little(value)));
    while (next().first != "__response") {
    }
    check(next().second == little(value));
  }

 private:
  static std::string frame(const std::string& name, const std::string& payload) {
    return with_length(name) + with_length(payload);
  }
  void send(const std::string& name, const std::string& payload) {
    socket_.write(frame(name, payload));
  }
  std::pair<std::string, std::string> next() {
    std::string name = socket_.read(length(socket_.read(4)));
    std::string payload = socket_.read(length(socket_.read(4)));
    if (name == "__error") throw std::runtime_error(payload);
    return {std::move(name), std::move(payload)};
  }

  Socket socket_;
};

class RosbridgeClient final : public Client {
 public:
  explicit RosbridgeClient(std::uint16_t port) : socket_(port) {
    socket_.write(
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n");
    (void)socket_.read_until("\r\n\r\n");
  }
  void call(std::int64_t value) override {
    const std::string number = std::to_string(value);
    const std::string text =
        R"({"op":"call_service","service":"/echo","id":"1","args":{"a":)" + number + "}}";
    // One text frame of less than 126 bytes, with a mask of zeros.
    std::string frame = "\x81";
    frame += static_cast<char>(0x80 | text.size());
    socket_.write(frame + std::string(4, '\0') + text);
    const std::string head = socket_.read(2);
    std::size_t size = static_cast<unsigned char>(head[1]);
    if (size == 126) {
      const std::string wide = socket_.read(2);
      size = std::size_t{static_cast<unsigned char>(wide[0])} << 8 |
             static_cast<unsigned char>(wide[1]);
    }
    const std::string reply = socket_.read(size);
    if (reply.find(R"("b":)" + number + "}") == std::string::npos) {
      throw std::runtime_error("wrong reply: " + reply);
    }
  }

 private:
  Socket socket_;
};

/// With one connection for all calls, as ros::ServiceClient with persistent=true.
class Ros1Client final : public Client {
 public:
  explicit Ros1Client(std::uint16_t port) : socket_(port) {
    std::string header;
    for (const char* field :
         {"callerid=/bench", "md5sum=*", "persistent=1", "service=/echo", "type=bench_msgs/Echo"}) {
      header += with_length(field);
    }
    socket_.write(with_length(header));
    (void)socket_.read(length(socket_.read(4)));
  }
  void call(std::int64_t value) override {
    socket_.write(with_length(little(value)));
    const bool good = socket_.read(1)[0] != 0;
    const std::string reply = socket_.read(length(socket_.read(4)));
    if (!good) throw std::runtime_error(reply);
    check(reply == little(value));
  }

 private:
  Socket socket_;
};

std::unique_ptr<Client> client_of(std::string_view protocol, std::uint16_t port) {
  if (protocol == "rosbridge") return std::make_unique<RosbridgeClient>(port);
  if (protocol == "ros_tcp") return std::make_unique<RosTcpClient>(port);
  if (protocol == "ros1") return std::make_unique<Ros1Client>(port);
  throw std::runtime_error("PROTOCOL must be rosbridge, ros_tcp or ros1");
}

int call(std::string_view protocol, std::uint16_t port, double seconds) {
  const auto client = client_of(protocol, port);
  std::int64_t value = 1;
  for (; value <= 100; ++value) client->call(value);
  std::vector<std::int64_t> took;
  const std::int64_t start = now_ns();
  const std::int64_t end = start + static_cast<std::int64_t>(seconds * 1e9);
  std::int64_t before = start;
  while (before < end) {
    client->call(++value);
    const std::int64_t after = now_ns();
    took.push_back(after - before);
    before = after;
  }
  const double per_s = static_cast<double>(took.size()) * 1e9 / static_cast<double>(before - start);
  std::sort(took.begin(), took.end());
  hyphos::lab::JsonLine line;
  line.add("calls", static_cast<double>(took.size())).add("per_s", per_s).add_percentiles("", took);
  std::printf("%s\n", line.str().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 2 && words[0] == "serve") return serve(words[1]);
  if (words.size() == 4 && words[0] == "idle") {
    return idle(words[1], std::atoi(words[2].c_str()), std::atoi(words[3].c_str()));
  }
  if (words.size() == 4 && words[0] == "call") {
    return call(words[1], static_cast<std::uint16_t>(std::atoi(words[2].c_str())),
                std::atof(words[3].c_str()));
  }
  std::fprintf(stderr, "see the comment in bench/gateway_calls.cpp\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
