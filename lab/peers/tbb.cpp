// The floor inside a process: a bare oneTBB edge, broadcast_node -> function_node (serial), that
// carries shared pointers. A publish allocates one message object. The payload block is recycled,
// so that the measurement covers the edge and not the allocator.

#include <oneapi/tbb/flow_graph.h>

#include "lab/common/main.hpp"

namespace hyphos::lab {
namespace {

namespace flow = oneapi::tbb::flow;

class TbbPeer : public Peer {
 public:
  static constexpr const char* kName = "tbb";
  static std::vector<Variant> variants() {
    return {{"", {Shape::kInproc, Shape::kInprocFlood}, 1u << 30, true}};
  }

  explicit TbbPeer(const Options& options) : Peer(options) {
    for (auto& block : blocks_) block = std::make_unique<std::byte[]>(options.size);
  }
  ~TbbPeer() override { graph_.wait_for_all(); }

  void open_publisher(const Edge&) override {}
  void open_subscriber(const Edge&, OnMessage on_message) override {
    on_message_ = std::move(on_message);
    flow::make_edge(source_, sink_);
  }
  void publish(std::size_t size, Fill fill) override {
    auto message = std::make_shared<Message>();
    // The header travels in the message object, because a block may still be in flight when it is
    // reused.
    fill(message->header);
    message->payload = blocks_[next_++ % std::size(blocks_)].get();
    message->size = size;
    source_.try_put(std::move(message));
  }

 private:
  struct Message {
    std::byte header[sizeof(Header)];
    const std::byte* payload;
    std::size_t size;
  };
  using Pointer = std::shared_ptr<const Message>;

  void receive(const Pointer& message) {
    touch(message->payload + message->size - 1);
    on_message_(message->header, message->size);
  }

  std::unique_ptr<std::byte[]> blocks_[16];
  std::size_t next_ = 0;
  OnMessage on_message_;
  flow::graph graph_;
  flow::broadcast_node<Pointer> source_{graph_};
  flow::function_node<Pointer> sink_{graph_, flow::serial, [this](const Pointer& message) {
                                       receive(message);
                                       return flow::continue_msg();
                                     }};
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) { return hyphos::lab::lab_main<hyphos::lab::TbbPeer>(argc, argv); }
