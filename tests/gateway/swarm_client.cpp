// Clients of rosbridge that use the gateway as a swarm of robots does, in one thread:
//
//     swarm_client PORT CLIENTS SECONDS RATE_HZ
//
// Each client publishes 5 topics, subscribes to the 5 topics of the next client, serves 5 services
// and an action, calls one service of the next client per period, and sends it one goal. The
// program prints one line of JSON with the counts and with the first errors of the gateway.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kTopics = 5;
constexpr int kServices = 5;
/// The longest wait for the replies after the last period.
constexpr std::int64_t kPatience = 60'000'000'000;

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/// The text or the digits after `"key":` in an object of the gateway, which has no blanks.
std::string_view member(std::string_view json, std::string_view key) {
  const std::string mark = "\"" + std::string(key) + "\":";
  const std::size_t at = json.find(mark);
  if (at == std::string_view::npos) return {};
  json.remove_prefix(at + mark.size());
  if (!json.starts_with('"')) return json.substr(0, json.find_first_of(",}"));
  json.remove_prefix(1);
  return json.substr(0, json.find('"'));
}

struct Counts {
  std::int64_t published = 0;
  std::int64_t received = 0;
  std::int64_t calls = 0;
  std::int64_t replies = 0;
  std::int64_t goals = 0;
  std::int64_t results = 0;
  std::int64_t errors = 0;
  std::vector<std::string> first_errors;
  std::vector<std::int64_t> latencies_ns;
};

class Client {
 public:
  Client(std::uint16_t port, int own, int next, Counts& counts)
      : own_("/s" + std::to_string(own)), next_("/s" + std::to_string(next)), counts_(counts) {
    fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
      throw std::runtime_error("cannot connect to the gateway");
    }
    const std::string hello =
        "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    outgoing_ = hello;
    flush();
    std::string head;
    while (!head.starts_with("HTTP/1.1 101") || head.find("\r\n\r\n") == std::string::npos) {
      char buffer[512];
      const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
      // A refusal is complete at its end.
      if (got <= 0) throw std::runtime_error("the gateway has refused the connection: " + head);
      head.append(buffer, static_cast<std::size_t>(got));
    }
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool has_output() const { return !outgoing_.empty(); }
  [[nodiscard]] bool is_set_up() const { return set_up_; }
  /// The subscribed topics that have had a message.
  [[nodiscard]] std::size_t served() const { return served_.size(); }
  [[nodiscard]] bool is_served() const { return served() == kTopics; }

  void set_up() {
    for (int k = 0; k < kTopics; ++k) {
      const std::string topic = "/t" + std::to_string(k) + R"(","type":"std_msgs/String"})";
      say(R"({"op":"advertise","topic":")" + own_ + topic);
      say(R"({"op":"subscribe","topic":")" + next_ + topic);
    }
    for (int k = 0; k < kServices; ++k) {
      say(R"({"op":"advertise_service","service":")" + own_ + "/v" + std::to_string(k) +
          R"(","type":"swarm_msgs/Echo"})");
    }
    say(R"({"op":"advertise_action","action":")" + own_ + R"(/count","type":"swarm_msgs/Count"})");
    say(R"({"op":"call_service","service":"/rosapi/get_time","id":"set up"})");
  }
  void send_goal() {
    ++counts_.goals;
    say(R"({"op":"send_action_goal","id":"goal","action":")" + next_ +
        R"(/count","action_type":"swarm_msgs/Count","args":{"to":3}})");
  }
  void tick(std::int64_t number) {
    const std::string data = R"(,"msg":{"data":")" + std::to_string(now_ns()) + "\"}}";
    for (int k = 0; k < kTopics; ++k) {
      say(R"({"op":"publish","topic":")" + own_ + "/t" + std::to_string(k) + "\"" + data);
    }
    counts_.published += kTopics;
    ++counts_.calls;
    say(R"({"op":"call_service","id":"call","service":")" + next_ + "/v" +
        std::to_string(number % kServices) + R"(","args":{"a":)" + std::to_string(number) + "}}");
  }

  void flush() {
    while (!outgoing_.empty()) {
      const ssize_t sent =
          ::send(fd_, outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EAGAIN) return;
      if (sent <= 0) throw std::runtime_error("the gateway has closed the connection");
      outgoing_.erase(0, static_cast<std::size_t>(sent));
    }
  }
  void receive() {
    char buffer[65536];
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) throw std::runtime_error("the gateway has closed the connection");
    incoming_.append(buffer, static_cast<std::size_t>(got));
    std::size_t at = 0;
    for (std::size_t size = 0; (size = frame_at(at)) != 0; at += size) {
    }
    incoming_.erase(0, at);
  }

 private:
  /// One text frame with a mask of zeros.
  void say(const std::string& text) {
    outgoing_ += '\x81';
    if (text.size() < 126) {
      outgoing_ += static_cast<char>(0x80 | text.size());
    } else {
      outgoing_ += static_cast<char>(0x80 | 126);
      outgoing_ += static_cast<char>(text.size() >> 8);
      outgoing_ += static_cast<char>(text.size() & 0xff);
    }
    outgoing_ += std::string(4, '\0') + text;
  }
  [[nodiscard]] std::size_t byte(std::size_t at) const {
    return static_cast<unsigned char>(incoming_[at]);
  }
  /// Takes the frame at this place. Returns its size, or 0 if it is incomplete.
  std::size_t frame_at(std::size_t at) {
    if (incoming_.size() < at + 2) return 0;
    std::size_t head = 2;
    std::size_t size = byte(at + 1);
    if (size == 126) {
      if (incoming_.size() < at + 4) return 0;
      head = 4;
      size = byte(at + 2) << 8 | byte(at + 3);
    } else if (size == 127) {
      throw std::runtime_error("a frame of 64 KiB or more");
    }
    if (incoming_.size() < at + head + size) return 0;
    const std::string_view payload(incoming_.data() + at + head, size);
    const unsigned opcode = static_cast<unsigned char>(incoming_[at]) & 0x0fU;
    if (opcode == 9) {  // a ping
      outgoing_ += '\x8a';
      outgoing_ += static_cast<char>(0x80 | size);
      outgoing_ += std::string(4, '\0') + std::string(payload);
    } else if (opcode == 1) {
      take(payload);
    }
    return head + size;
  }

  void take(std::string_view json) {
    const std::string_view op = member(json, "op");
    if (op == "publish") {
      ++counts_.received;
      served_.insert(std::string(member(json, "topic")));
      counts_.latencies_ns.push_back(now_ns() - std::atoll(member(json, "data").data()));
    } else if (op == "call_service") {
      say(R"({"op":"service_response","result":true,"id":")" + std::string(member(json, "id")) +
          R"(","service":")" + std::string(member(json, "service")) + R"(","values":{"b":)" +
          std::string(member(json, "a")) + "}}");
    } else if (op == "send_action_goal") {
      say(R"({"op":"action_result","result":true,"status":4,"id":")" +
          std::string(member(json, "id")) + R"(","action":")" +
          std::string(member(json, "action")) + R"(","values":{"sum":6}})");
    } else if (op == "service_response" && member(json, "id") == "set up") {
      set_up_ = true;
    } else if (op == "service_response" && member(json, "result") == "true") {
      ++counts_.replies;
    } else if (op == "action_result" && member(json, "result") == "true") {
      ++counts_.results;
    } else if (op != "action_feedback") {
      ++counts_.errors;
      if (counts_.first_errors.size() < 3) counts_.first_errors.emplace_back(json);
    }
  }

  const std::string own_;
  const std::string next_;
  Counts& counts_;
  int fd_ = -1;
  std::string outgoing_;
  std::string incoming_;
  std::set<std::string> served_;
  bool set_up_ = false;
};

/// Sends and receives until `done`, or until `end_ns`. Returns true if it is done.
bool run(std::deque<Client>& clients, std::int64_t end_ns, const std::function<bool()>& done) {
  std::vector<pollfd> polled(clients.size());
  while (!done()) {
    const std::int64_t left_ns = end_ns - now_ns();
    if (left_ns <= 0) return false;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const short output = clients[i].has_output() ? POLLOUT : 0;
      polled[i] = {clients[i].fd(), static_cast<short>(POLLIN | output), 0};
    }
    ::poll(polled.data(), polled.size(), static_cast<int>(left_ns / 1'000'000) + 1);
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if ((polled[i].revents & POLLOUT) != 0) clients[i].flush();
      if ((polled[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) clients[i].receive();
    }
  }
  return true;
}

void print(const std::deque<Client>& clients, Counts& counts) {
  std::size_t served = 0;
  for (const Client& client : clients) served += client.served();
  std::sort(counts.latencies_ns.begin(), counts.latencies_ns.end());
  const auto percentile_ms = [&](double part) {
    if (counts.latencies_ns.empty()) return -1.0;
    const auto at =
        static_cast<std::size_t>(part * static_cast<double>(counts.latencies_ns.size() - 1));
    return static_cast<double>(counts.latencies_ns[at]) / 1e6;
  };
  std::string errors;
  for (const std::string& error : counts.first_errors)
    errors += (errors.empty() ? "" : ",") + error;
  std::printf(R"({"clients":%zu,"subscriptions":%zu,"served":%zu,"published":%lld,"received":%lld,)"
              R"("calls":%lld,"replies":%lld,"goals":%lld,"results":%lld,"errors":%lld,)"
              R"("first_errors":[%s],"p50_ms":%.3f,"p99_ms":%.3f})"
              "\n",
              clients.size(), clients.size() * kTopics, served,
              static_cast<long long>(counts.published), static_cast<long long>(counts.received),
              static_cast<long long>(counts.calls), static_cast<long long>(counts.replies),
              static_cast<long long>(counts.goals), static_cast<long long>(counts.results),
              static_cast<long long>(counts.errors), errors.c_str(), percentile_ms(0.5),
              percentile_ms(0.99));
}

int swarm(std::uint16_t port, int count, double seconds, double rate_hz) {
  Counts counts;
  std::deque<Client> clients;
  for (int i = 0; i < count; ++i) clients.emplace_back(port, i, (i + 1) % count, counts);
  for (Client& client : clients) client.set_up();
  const auto all_set_up = [&] { return std::ranges::all_of(clients, &Client::is_set_up); };
  if (!run(clients, now_ns() + kPatience, all_set_up)) {
    throw std::runtime_error("the gateway did not open everything in a minute");
  }
  for (Client& client : clients) client.send_goal();
  const auto never = [] { return false; };
  const std::int64_t start = now_ns();
  const auto periods = static_cast<std::int64_t>(seconds * rate_hz);
  for (std::int64_t number = 0; number < periods; ++number) {
    for (Client& client : clients) client.tick(number);
    const double due = static_cast<double>(number + 1) * 1e9 / rate_hz;
    run(clients, start + static_cast<std::int64_t>(due), never);
  }
  const auto over = [&] {
    return counts.errors > 0 || (counts.replies == counts.calls && counts.results == counts.goals &&
                                 counts.received == counts.published);
  };
  const auto complete = [&] {
    return counts.errors > 0 || (counts.replies == counts.calls && counts.results == counts.goals &&
                                 std::ranges::all_of(clients, &Client::is_served));
  };
  run(clients, now_ns() + kPatience, complete);
  // Lost messages do not come later. So this wait ends when nothing has come for some time.
  for (std::int64_t before = -1; !over() && counts.received != before;) {
    before = counts.received;
    run(clients, now_ns() + kPatience / 20, over);
  }
  print(clients, counts);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 5) {
    std::fprintf(stderr, "swarm_client PORT CLIENTS SECONDS RATE_HZ\n");
    return 2;
  }
  return swarm(static_cast<std::uint16_t>(std::atoi(argv[1])), std::atoi(argv[2]),
               std::atof(argv[3]), std::atof(argv[4]));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
