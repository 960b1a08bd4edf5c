// LCM (udpm): one multicast group for a run, raw messages on one channel for each edge. Messages of
// more than 64 KB travel as fragments, and the loss of one fragment loses the message. There is no
// retransmission. Packets that exceed the kernel's buffer are lost and counted. The requested
// buffer is 2 MB, as LCM's manual advises. The kernel grants at most net.core.rmem_max. TTL 0 on
// one machine.

#include <lcm/lcm.h>
#include <poll.h>

#include "lab/common/main.hpp"

namespace hyphos::lab {
namespace {

class LcmPeer : public Peer {
 public:
  static constexpr const char* kName = "lcm";
  static std::vector<Variant> variants() {
    // Not in the flood, because nothing holds a publisher back.
    return {{"",
             {Shape::kPair, Shape::kEcho, Shape::kPipeline, Shape::kFanout, Shape::kFanin},
             4u << 20,
             false,
             true}};
  }

  explicit LcmPeer(const Options& options)
      : Peer(options), lcm_(lcm_create(url(options).c_str())), buffer_(options.size) {
    if (lcm_ == nullptr) {
      throw std::runtime_error(
          "lcm: cannot open " + url(options) +
          ": without a network, add a multicast route: ip route add 224.0.0.0/4 dev lo");
    }
  }
  ~LcmPeer() override { lcm_destroy(lcm_); }

  void open_publisher(const Edge& edge) override { out_ = edge.name; }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    on_message_ = std::move(on_message);
    const auto call = [](const lcm_recv_buf_t* received, const char*, void* self) {
      static_cast<LcmPeer*>(self)->on_message_(received->data, received->data_size);
    };
    lcm_subscription_t* subscription = lcm_subscribe(lcm_, edge.name.c_str(), call, this);
    if (subscription == nullptr) throw std::runtime_error("lcm: no subscription");
    lcm_subscription_set_queue_capacity(subscription, kQueue);
  }
  void publish(std::size_t size, Fill fill) override {
    fill(buffer_.data());
    send(buffer_.data(), size);
  }
  void forward(const void* data, std::size_t size) override { send(data, size); }
  void spin(const std::function<bool()>& stopped) override {
    pollfd readable{lcm_get_fileno(lcm_), POLLIN, 0};
    while (!stopped()) {
      if (poll(&readable, 1, -1) > 0) lcm_handle(lcm_);
    }
  }

 private:
  static constexpr int kQueue = 64;
  static std::string url(const Options& options) {
    return "udpm://239.255.76.67:" + std::to_string(options.port(0)) +
           "?recv_buf_size=2097152&ttl=" + (options.across_machines() ? "1" : "0");
  }
  /// A full socket loses a message and is not an error: LCM gives no guarantee.
  void send(const void* data, std::size_t size) {
    lcm_publish(lcm_, out_.c_str(), data, static_cast<unsigned int>(size));
  }

  lcm_t* lcm_;
  std::vector<std::byte> buffer_;
  std::string out_;
  OnMessage on_message_;
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) { return hyphos::lab::lab_main<hyphos::lab::LcmPeer>(argc, argv); }
