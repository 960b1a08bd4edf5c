// iceoryx2 (the Rust crate, through the small C interface in iceoryx2/): loaned slices, woken by
// its event service. A hop copies, because a received sample cannot be published again.

#include "lab/common/main.hpp"

extern "C" {
struct Iox2Publisher;
struct Iox2Subscriber;
Iox2Publisher* lab_iox2_open_publisher(const char* name, std::size_t size, std::size_t depth,
                                       std::size_t publishers, std::size_t subscribers, bool block);
Iox2Subscriber* lab_iox2_open_subscriber(const char* name, std::size_t depth,
                                         std::size_t publishers, std::size_t subscribers,
                                         bool block);
bool lab_iox2_publish(Iox2Publisher*, std::size_t size, void (*fill)(void*, std::uint8_t*),
                      void* context);
bool lab_iox2_receive(Iox2Subscriber*, void (*on_message)(void*, const std::uint8_t*, std::size_t),
                      void* context);
void lab_iox2_close_publisher(Iox2Publisher*);
void lab_iox2_close_subscriber(Iox2Subscriber*);
}

namespace hyphos::lab {
namespace {

class Iceoryx2Peer : public Peer {
 public:
  static constexpr const char* kName = "iceoryx2";
  static std::vector<Variant> variants() { return {{"", kBetweenProcesses}}; }

  explicit Iceoryx2Peer(const Options& options)
      : Peer(options), depth_(options.size >= (8u << 20) ? 4 : 16) {}
  ~Iceoryx2Peer() override {
    lab_iox2_close_subscriber(subscriber_);
    lab_iox2_close_publisher(publisher_);
  }

  void open_publisher(const Edge& edge) override {
    publisher_ = lab_iox2_open_publisher(edge.name.c_str(), options_.size, depth_,
                                         static_cast<std::size_t>(edge.publishers),
                                         static_cast<std::size_t>(edge.subscribers), edge.block);
    if (publisher_ == nullptr) throw std::runtime_error("iceoryx2: no publisher");
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    on_message_ = std::move(on_message);
    subscriber_ = lab_iox2_open_subscriber(edge.name.c_str(), depth_,
                                           static_cast<std::size_t>(edge.publishers),
                                           static_cast<std::size_t>(edge.subscribers), edge.block);
    if (subscriber_ == nullptr) throw std::runtime_error("iceoryx2: no subscriber");
  }
  void publish(std::size_t size, Fill fill) override {
    const auto call = [](void* context, std::uint8_t* data) {
      (*static_cast<Fill*>(context))(reinterpret_cast<std::byte*>(data));
    };
    if (!lab_iox2_publish(publisher_, size, call, &fill)) {
      throw std::runtime_error("iceoryx2: cannot publish");
    }
  }
  void spin(const std::function<bool()>& stopped) override {
    const auto call = [](void* context, const std::uint8_t* data, std::size_t size) {
      (*static_cast<OnMessage*>(context))(data, size);
    };
    while (!stopped()) lab_iox2_receive(subscriber_, call, &on_message_);
  }

 private:
  std::size_t depth_;
  Iox2Publisher* publisher_ = nullptr;
  Iox2Subscriber* subscriber_ = nullptr;
  OnMessage on_message_;
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  return hyphos::lab::lab_main<hyphos::lab::Iceoryx2Peer>(argc, argv);
}
