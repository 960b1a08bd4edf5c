// zenoh (the Rust crate, through the small C interface in zenoh/): peers without a router, which
// listen and connect on addresses of the run, without scouting and gossip. Publishers block, unless
// best effort is requested. zenoh's own default is to drop. `ipc` and `tcp` copy each message into
// zenoh and disable its shared memory, which would otherwise be used from 3 KB on. `shm` writes
// messages into shared memory (links over Unix sockets carry the references). A hop forwards the
// received message.

#include <mutex>

#include "lab/common/main.hpp"

extern "C" {
struct ZenohLink;
struct ZenohMessage;
ZenohLink* lab_zenoh_open(const char* config, std::size_t shared_bytes);
bool lab_zenoh_advertise(ZenohLink*, const char* key, bool block);
bool lab_zenoh_subscribe(ZenohLink*, const char* key,
                         void (*on_message)(void*, const ZenohMessage*, const std::uint8_t*,
                                            std::size_t),
                         void* context);
bool lab_zenoh_publish(const ZenohLink*, std::uint8_t* data, std::size_t size,
                       void (*fill)(void*, std::uint8_t*), void* context);
bool lab_zenoh_forward(const ZenohLink*, const ZenohMessage*);
void lab_zenoh_close(ZenohLink*);
void lab_zenoh_sweep();
}

namespace hyphos::lab {
namespace {

class ZenohPeer : public Peer {
 public:
  static constexpr const char* kName = "zenoh";
  static std::vector<Variant> variants() {
    return {{"ipc", kBetweenProcesses},
            {"tcp", kBetweenProcesses, 64u << 20, false, true},
            {"shm", kBetweenProcesses}};
  }

  explicit ZenohPeer(const Options& options)
      : Peer(options),
        buffer_(options.size),
        link_(lab_zenoh_open(config().c_str(), shared_bytes())) {
    expect(link_ != nullptr, "no session");
  }
  ~ZenohPeer() override { lab_zenoh_close(link_); }

  void open_publisher(const Edge& edge) override {
    const bool may_drop = options_.wanted_reliability() == Reliability::kBestEffort;
    expect(lab_zenoh_advertise(link_, edge.name.c_str(), edge.block || !may_drop), "no publisher");
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    on_message_ = std::move(on_message);
    const auto call = [](void* self, const ZenohMessage* message, const std::uint8_t* data,
                         std::size_t size) {
      auto& peer = *static_cast<ZenohPeer*>(self);
      const std::scoped_lock one(peer.one_at_a_time_);
      peer.received_ = message;
      peer.on_message_(data, size);
    };
    expect(lab_zenoh_subscribe(link_, edge.name.c_str(), call, this), "no subscriber");
  }
  void publish(std::size_t size, Fill fill) override {
    const auto call = [](void* context, std::uint8_t* data) {
      (*static_cast<Fill*>(context))(reinterpret_cast<std::byte*>(data));
    };
    expect(lab_zenoh_publish(link_, buffer_.data(), size, call, &fill), "cannot publish");
  }
  void forward(const void*, std::size_t) override {
    expect(lab_zenoh_forward(link_, received_), "cannot forward");
  }

 private:
  static void expect(bool good, const char* what) {
    if (!good) throw std::runtime_error(std::string("zenoh: ") + what);
  }
  /// The memory for the messages that may be in flight. Only processes that create messages need
  /// it.
  [[nodiscard]] std::size_t shared_bytes() const {
    if (options_.variant != "shm" || options_.role != "pub") return 0;
    return std::max<std::size_t>(4u << 20, 16 * options_.size);
  }

  /// The address at which publisher `end` of an edge listens.
  [[nodiscard]] std::string endpoint(int edge, int end) const {
    if (options_.variant == "tcp") {
      return "tcp/" + make_edge(options_, edge, end).host + ":" +
             std::to_string(options_.port(edge + end));
    }
    return "unixsock-stream/" + make_edge(options_, edge, end).path + "." + std::to_string(end);
  }
  /// Subscribers connect to all publishers of their edge.
  [[nodiscard]] std::string config() const {
    const std::string self = process_name(options_.role, options_.index);
    std::string listen;
    std::string connect;
    const auto add = [](std::string& list, const std::string& text) {
      list += (list.empty() ? "'" : ", '") + text + "'";
    };
    for (int e = 0; e < options_.edges(); ++e) {
      const EdgeEnds ends = ends_of(options_, e);
      const auto& subscribers = ends.subscribers;
      const bool hears =
          std::find(subscribers.begin(), subscribers.end(), self) != subscribers.end();
      for (int i = 0; i < static_cast<int>(ends.publishers.size()); ++i) {
        if (ends.publishers[static_cast<std::size_t>(i)] == self) add(listen, endpoint(e, i));
        if (hears) add(connect, endpoint(e, i));
      }
    }
    const std::string shared = options_.variant == "shm" ? "true" : "false";
    return "{mode: 'peer', listen: {endpoints: [" + listen + "]}, connect: {endpoints: [" +
           connect +
           "], exit_on_failure: false, retry: {period_init_ms: 20, period_max_ms: 200}}," +
           "scouting: {multicast: {enabled: false}, gossip: {enabled: false}}," +
           "transport: {shared_memory: {enabled: " + shared +
           ", transport_optimization: {enabled: false}}}}";
  }

  std::vector<std::uint8_t> buffer_;
  ZenohLink* link_;
  std::mutex one_at_a_time_;
  const ZenohMessage* received_ = nullptr;
  OnMessage on_message_;
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  const int status = hyphos::lab::lab_main<hyphos::lab::ZenohPeer>(argc, argv);
  lab_zenoh_sweep();  // in the parent: after the last process of the run
  return status;
}
