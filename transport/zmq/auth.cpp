#include "transport/zmq/auth.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

namespace hyphos::transport::zmq {
namespace {

constexpr std::size_t kKeyText = 40;
constexpr std::size_t kKeyBytes = 32;

Result<std::string> decode_key(const std::string& text) {
  std::array<std::uint8_t, kKeyBytes> bytes{};
  if (text.size() != kKeyText || zmq_z85_decode(bytes.data(), text.c_str()) == nullptr) {
    return Error{Code::invalid_config, "a CURVE key must be 40 characters of Z85", text};
  }
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string text_of(const Frame& frame) {
  return {reinterpret_cast<const char*>(frame.bytes().data()), frame.size()};
}

}  // namespace

Result<void> Gatekeeper::open(const Context& context, const CurveKeys& keys) {
  for (const std::string& key : keys.allowed) {
    auto bytes = decode_key(key);
    if (!bytes) return bytes.error();
    allowed_.insert(std::move(*bytes));
  }
  socket_ = Socket(context, ZMQ_REP);
  socket_.set(ZMQ_LINGER, 0);
  if (zmq_bind(socket_.raw(), "inproc://zeromq.zap.01") != 0) {
    return last_error("cannot bind the authentication handler", "inproc://zeromq.zap.01");
  }
  return success();
}

std::uint64_t Gatekeeper::serve() {
  std::uint64_t refused = 0;
  while (socket_ && socket_.readable()) {
    // version, request id, domain, address, identity, mechanism, credentials
    std::vector<std::string> question;
    Frame frame;
    do {
      if (!socket_.receive(frame)) break;
      if (question.size() < 8) question.push_back(text_of(frame));
    } while (frame.more());
    const bool ok = question.size() == 7 && question[0] == "1.0" && question[5] == "CURVE" &&
                    allowed_.contains(question[6]);
    if (!ok) ++refused;
    const std::array<std::string, 6> answer = {"1.0",
                                               question.size() > 1 ? question[1] : "",
                                               ok ? "200" : "400",
                                               ok ? "" : "this key is not allowed",
                                               ok ? "peer" : "",
                                               ""};
    for (std::size_t i = 0; i < answer.size(); ++i) {
      Frame part = Frame::copy_of(answer[i]);
      (void)socket_.send(part, i + 1 < answer.size());
    }
  }
  return refused;
}

Result<void> use_curve(Socket& socket, const CurveKeys& keys,
                       const std::optional<std::string>& server_key) {
  if (zmq_has("curve") == 0) {
    return Error{Code::unsupported, "this libzmq was built without CURVE encryption", {}};
  }
  for (const std::string* key : {&keys.public_key, &keys.secret_key}) {
    // The error does not contain the secret key.
    if (!decode_key(*key)) {
      return Error{Code::invalid_config, "a CURVE key must be 40 characters of Z85", {}};
    }
  }
  bool ok = socket.set(ZMQ_CURVE_PUBLICKEY, keys.public_key) &&
            socket.set(ZMQ_CURVE_SECRETKEY, keys.secret_key);
  if (server_key) {
    ok = ok && socket.set(ZMQ_CURVE_SERVERKEY, *server_key);
  } else {
    socket.set(ZMQ_CURVE_SERVER, 1);
    ok = ok && socket.set(ZMQ_ZAP_DOMAIN, std::string("hyphos"));
  }
  if (!ok) return last_error("libzmq does not accept the CURVE keys", {});
  return success();
}

Monitor::Monitor(const Context& context, Socket& watched, const std::string& name)
    : watched_(watched.raw()) {
  const std::string endpoint = "inproc://" + name;
  zmq_socket_monitor(watched.raw(), endpoint.c_str(),
                     ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                         ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH);
  socket_ = Socket(context, ZMQ_PAIR);
  socket_.set(ZMQ_LINGER, 0);
  zmq_connect(socket_.raw(), endpoint.c_str());
}

Monitor::~Monitor() {
  // Stop the writer first: libzmq leaks the memory of an event without a reader.
  if (watched_ != nullptr) zmq_socket_monitor(watched_, nullptr, 0);
}

Monitor::Event Monitor::next() {
  while (socket_ && socket_.readable()) {
    Frame frame;
    std::uint16_t event = 0;
    bool first = true;
    do {
      if (!socket_.receive(frame)) return Event::none;
      if (std::exchange(first, false) && frame.size() >= sizeof event) {
        std::memcpy(&event, frame.bytes().data(), sizeof event);
      }
    } while (frame.more());
    if (event == ZMQ_EVENT_DISCONNECTED) return Event::disconnected;
    if (event != 0 && event != ZMQ_EVENT_MONITOR_STOPPED) return Event::refused;
  }
  return Event::none;
}

bool ipc_in_use(std::string_view endpoint) {
  if (!endpoint.starts_with("ipc://")) return false;
  const std::string_view path = endpoint.substr(6);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  socklen_t size = offsetof(sockaddr_un, sun_path) + static_cast<socklen_t>(path.size());
  if (path[0] == '@') {
    address.sun_path[0] = '\0';  // abstract: no file, no terminating zero
  } else {
    size += 1;
  }
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  const int connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), size);
  const bool in_use = connected == 0 || errno == EAGAIN;
  ::close(fd);
  return in_use;
}

}  // namespace hyphos::transport::zmq
