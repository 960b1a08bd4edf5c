// Gazebo's transport (ignition-transport). `bytes` sends an ignition.msgs.Bytes, as its users do:
// serialized once and parsed once. `raw` sends and receives bytes that are already serialized.
// Nodes find each other by Gazebo's own multicast, on the interface of the run and in a separate
// partition. Queues have their default length (1000 messages). Not in the flood, because a full
// queue drops.

#include <ignition/msgs/bytes.pb.h>

#include <cstdlib>
#include <ignition/transport/Node.hh>
#include <mutex>

#include "lab/common/main.hpp"

namespace hyphos::lab {
namespace {

namespace transport = ignition::transport;
using ignition::msgs::Bytes;

class GzPeer : public Peer {
 public:
  static constexpr const char* kName = "gz";
  static std::vector<Variant> variants() {
    const std::vector<Shape> shapes = {Shape::kPair, Shape::kEcho, Shape::kPipeline, Shape::kFanout,
                                       Shape::kFanin};
    return {{"bytes", shapes, 64u << 20, false, true}, {"raw", shapes, 64u << 20, false, true}};
  }

  explicit GzPeer(const Options& options) : Peer(options) {
    // The environment is the only way to configure it.
    setenv("IGN_IP", options.own_address().c_str(), 1);
    setenv("IGN_DISCOVERY_MSG_PORT", std::to_string(options.port(Options::kMaxEdges)).c_str(), 1);
    setenv("IGN_DISCOVERY_SRV_PORT", std::to_string(options.port(Options::kMaxEdges + 1)).c_str(),
           1);
    transport::NodeOptions how;
    how.SetPartition("lab" + std::to_string(options.run_id));
    node_ = std::make_unique<transport::Node>(how);
  }

  void open_publisher(const Edge& edge) override {
    publisher_ = node_->Advertise("/" + edge.name, raw() ? kRawType : Bytes().GetTypeName());
    if (!publisher_) throw std::runtime_error("gz: cannot advertise /" + edge.name);
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    on_message_ = std::move(on_message);
    const std::string topic = "/" + edge.name;
    if (raw()) {
      const transport::RawCallback call = [this](const char* data, std::size_t size,
                                                 const transport::MessageInfo&) {
        on_message_(data, size);
      };
      check(node_->SubscribeRaw(topic, call, kRawType), topic);
      return;
    }
    std::function<void(const Bytes&)> call = [this](const Bytes& message) {
      received_ = &message;
      on_message_(message.data().data(), message.data().size());
    };
    check(node_->Subscribe(topic, call), topic);
  }
  void publish(std::size_t size, Fill fill) override {
    std::string& payload = raw() ? raw_ : *message_.mutable_data();
    payload.resize(size);
    fill(reinterpret_cast<std::byte*>(payload.data()));
    send(raw() ? publisher_.PublishRaw(raw_, kRawType) : publisher_.Publish(message_));
  }
  void forward(const void* data, std::size_t size) override {
    if (!raw()) {
      send(publisher_.Publish(*received_));
      return;
    }
    raw_.assign(static_cast<const char*>(data), size);
    send(publisher_.PublishRaw(raw_, kRawType));
  }

 private:
  inline static const std::string kRawType = "hyphos.lab.Raw";

  [[nodiscard]] bool raw() const { return options_.variant == "raw"; }
  static void check(bool good, const std::string& topic) {
    if (!good) throw std::runtime_error("gz: cannot subscribe to " + topic);
  }
  static void send(bool sent) {
    if (!sent) throw std::runtime_error("gz: cannot publish");
  }

  std::unique_ptr<transport::Node> node_;
  transport::Node::Publisher publisher_;
  Bytes message_;
  std::string raw_;
  const Bytes* received_ = nullptr;
  OnMessage on_message_;
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) { return hyphos::lab::lab_main<hyphos::lab::GzPeer>(argc, argv); }
