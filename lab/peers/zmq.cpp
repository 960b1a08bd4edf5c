// Bare ZeroMQ: PUB/SUB, one frame per message, sent without copying (zmq_msg_init_data). The flood
// uses PUSH/PULL, which blocks at its high-water mark where PUB drops. `ipc_protobuf` and
// `tcp_protobuf` send protobuf in the arrangement of HyperGraph ROS.

#include <zmq.h>

#include <atomic>

#include "lab/common/main.hpp"
#include "lab/peers/paper_link.hpp"

namespace hyphos::lab {
namespace {

void check(bool ok, const char* what) {
  if (!ok) throw std::runtime_error(std::string(what) + ": " + zmq_strerror(zmq_errno()));
}

// Message buffers, allocated once. ZeroMQ returns a buffer, from its I/O thread, after the send.
class Pool {
 public:
  explicit Pool(std::size_t size) {
    for (auto& buffer : buffers_) buffer.bytes = std::make_unique<std::byte[]>(size);
  }
  // Waits while the next buffer is still being sent.
  void take(zmq_msg_t& message, std::size_t size, Fill fill) {
    Buffer& buffer = buffers_[next_++ % kBuffers];
    buffer.busy.wait(true);
    buffer.busy.store(true);
    fill(buffer.bytes.get());
    zmq_msg_init_data(&message, buffer.bytes.get(), size, &Pool::give_back, &buffer);
  }

 private:
  static constexpr std::size_t kBuffers = 16;
  struct Buffer {
    std::unique_ptr<std::byte[]> bytes;
    std::atomic<bool> busy{false};
  };
  static void give_back(void*, void* hint) {
    auto& buffer = *static_cast<Buffer*>(hint);
    buffer.busy.store(false);
    buffer.busy.notify_one();
  }
  Buffer buffers_[kBuffers];
  std::size_t next_ = 0;
};

class ZmqPeer : public Peer {
 public:
  static constexpr const char* kName = "zmq";
  static std::vector<Variant> variants() {
    return {{"ipc", kBetweenProcesses},
            {"tcp", kBetweenProcesses, 64u << 20, false, true, true, true},
            {"ipc_protobuf", {Shape::kPair}, 64u << 20, false, false, false},
            {"tcp_protobuf", {Shape::kPair}, 64u << 20, false, true, false}};
  }

  explicit ZmqPeer(const Options& options) : Peer(options), context_(zmq_ctx_new()) {}
  ~ZmqPeer() override {
    paper_.reset();
    for (void* socket : {out_, in_}) {
      if (socket != nullptr) zmq_close(socket);
    }
    zmq_ctx_term(context_);
  }

  void open_publisher(const Edge& edge) override {
    if (as_paper()) {
      channel_ = edge.name;
      paper_ = std::make_unique<PaperLink>(
          options_.size, [this](const PaperLink::Frame& frame) { send_frame(frame); }, nullptr);
    } else {
      pool_ = std::make_unique<Pool>(options_.size);
    }
    out_ = open(edge, edge.block ? ZMQ_PUSH : ZMQ_PUB);
    join(out_, edge, edge.publishers == 1);
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    if (as_paper()) {
      paper_ = std::make_unique<PaperLink>(0, nullptr, std::move(on_message));
    } else {
      on_message_ = std::move(on_message);
    }
    in_ = open(edge, edge.block ? ZMQ_PULL : ZMQ_SUB);
    if (!edge.block) zmq_setsockopt(in_, ZMQ_SUBSCRIBE, "", 0);
    join(in_, edge, edge.publishers > 1);
  }
  void publish(std::size_t size, Fill fill) override {
    if (paper_) return paper_->publish(channel_, fill);
    zmq_msg_t message;
    pool_->take(message, size, fill);
    send(message);
  }
  void forward(const void*, std::size_t) override {
    zmq_msg_t message;  // shares the received bytes
    zmq_msg_init(&message);
    zmq_msg_copy(&message, &received_);
    send(message);
  }
  void spin(const std::function<bool()>& stopped) override {
    while (!stopped()) {
      zmq_msg_init(&received_);
      if (zmq_msg_recv(&received_, in_, 0) >= 0) {
        const std::size_t size = zmq_msg_size(&received_);
        if (paper_) {
          paper_->received(static_cast<const char*>(zmq_msg_data(&received_)), size);
        } else {
          on_message_(zmq_msg_data(&received_), size);
        }
      }
      zmq_msg_close(&received_);
    }
  }

 private:
  void* open(const Edge& edge, int type) {
    void* socket = zmq_socket(context_, type);
    check(socket != nullptr, "zmq_socket");
    const int linger = 0;
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    const int high_water = edge.block ? 64 : options_.queue_or(1000);
    zmq_setsockopt(socket, ZMQ_SNDHWM, &high_water, sizeof high_water);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &high_water, sizeof high_water);
    return socket;
  }
  /// The side of the edge with only one process binds, and the others connect to it.
  void join(void* socket, const Edge& edge, bool alone) {
    const std::string at = url(edge);
    check((alone ? zmq_bind(socket, at.c_str()) : zmq_connect(socket, at.c_str())) == 0,
          at.c_str());
  }
  [[nodiscard]] std::string url(const Edge& edge) const {
    if (options_.variant.starts_with("tcp"))
      return "tcp://" + (edge.publishers > 1 ? options_.address_of("sub", 0) : edge.host) + ":" +
             std::to_string(edge.port);
    return "ipc://" + edge.path;
  }
  void send(zmq_msg_t& message) {
    while (zmq_msg_send(&message, out_, 0) < 0) {
      check(zmq_errno() == EINTR, "zmq_msg_send");
    }
  }

  [[nodiscard]] bool as_paper() const { return options_.variant.ends_with("_protobuf"); }
  void send_frame(const PaperLink::Frame& frame) {
    auto* const kept = new PaperLink::Frame(frame);  // until ZeroMQ has sent it
    const auto drop = [](void*, void* hint) { delete static_cast<PaperLink::Frame*>(hint); };
    zmq_msg_t message;
    zmq_msg_init_data(&message, frame->data(), frame->size(), drop, kept);
    send(message);
  }

  void* context_;
  std::string channel_;
  std::unique_ptr<PaperLink> paper_;
  void* out_ = nullptr;
  void* in_ = nullptr;
  std::unique_ptr<Pool> pool_;
  zmq_msg_t received_{};
  OnMessage on_message_;
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) { return hyphos::lab::lab_main<hyphos::lab::ZmqPeer>(argc, argv); }
