// ROS 1 (roscpp, TCPROS): one uint8[] per message, TCP_NODELAY on. Its daemon, rosmaster, only
// introduces the nodes to each other. It allocates every message anew, so the allocator is told to
// keep freed memory: otherwise large messages would pay for page faults more than for ROS (a factor
// of three at 500 KB).

#include <malloc.h>
#include <ros/callback_queue.h>
#include <ros/ros.h>

#include "lab/common/main.hpp"
#include "lab/peers/rosmaster.hpp"

namespace hyphos::lab {

// What a generated header would hold for a .msg with the one line `uint8[] data`. Written out,
// because Debian's generated headers do not compile as C++20.
struct RosBlob {
  std::vector<std::uint8_t> data;
};

}  // namespace hyphos::lab

namespace ros {

template <>
struct message_traits::IsMessage<hyphos::lab::RosBlob> : TrueType {};
template <>
struct message_traits::MD5Sum<hyphos::lab::RosBlob> {
  static const char* value() { return "f43a8e1b362b75baa741461b46adc7e0"; }
  static const char* value(const hyphos::lab::RosBlob&) { return value(); }
};
template <>
struct message_traits::DataType<hyphos::lab::RosBlob> {
  static const char* value() { return "hyphos_lab/Blob"; }
  static const char* value(const hyphos::lab::RosBlob&) { return value(); }
};
template <>
struct message_traits::Definition<hyphos::lab::RosBlob> {
  static const char* value() { return "uint8[] data\n"; }
  static const char* value(const hyphos::lab::RosBlob&) { return value(); }
};
template <>
struct serialization::Serializer<hyphos::lab::RosBlob> {
  template <class Stream>
  static void write(Stream& stream, const hyphos::lab::RosBlob& blob) {
    const auto length = static_cast<std::uint32_t>(blob.data.size());
    stream.next(length);
    std::memcpy(stream.advance(length), blob.data.data(), length);
  }
  template <class Stream>
  static void read(Stream& stream, hyphos::lab::RosBlob& blob) {
    std::uint32_t length = 0;
    stream.next(length);
    const std::uint8_t* bytes = stream.advance(length);  // throws where the message is too short
    blob.data.assign(bytes, bytes + length);
  }
  static std::uint32_t serializedLength(const hyphos::lab::RosBlob& blob) {
    return static_cast<std::uint32_t>(4 + blob.data.size());
  }
};

}  // namespace ros

namespace hyphos::lab {
namespace {

class Ros1Peer : public Peer {
 public:
  static constexpr const char* kName = "ros1";
  static std::vector<Variant> variants() { return tcpros_variants(); }
  static std::vector<std::string> daemon(const Options& options) { return rosmaster(options); }

  explicit Ros1Peer(const Options& options) : Peer(options) {
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    const ros::M_string how{
        {"__master", "http://" + options.pub_addr + ":" + std::to_string(master_port(options))},
        {"__ip", options.own_addr()}};
    // The log would otherwise go to the home directory.
    setenv("ROS_LOG_DIR", options.run_dir.c_str(), 1);
    ros::init(how, options.role + std::to_string(options.index),
              ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
    node_ = std::make_unique<ros::NodeHandle>();
    message_.data.resize(options.size);
  }

  void open_publisher(const Edge& edge) override {
    publisher_ = node_->advertise<RosBlob>(edge.name, kQueue);
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    on_message_ = std::move(on_message);
    subscriber_ = node_->subscribe(edge.name, kQueue, &Ros1Peer::receive, this,
                                   ros::TransportHints().tcpNoDelay());
  }
  void publish(std::size_t size, Fill fill) override {
    message_.data.resize(size);
    fill(reinterpret_cast<std::byte*>(message_.data.data()));
    publisher_.publish(message_);
  }
  void forward(const void*, std::size_t) override { publisher_.publish(received_); }
  void spin(const std::function<bool()>& stopped) override {
    while (!stopped()) ros::getGlobalCallbackQueue()->callAvailable(ros::WallDuration(1.0));
  }

 private:
  static constexpr int kQueue = 16;
  void receive(const boost::shared_ptr<const RosBlob>& message) {
    received_ = message;
    on_message_(message->data.data(), message->data.size());
    received_.reset();
  }

  std::unique_ptr<ros::NodeHandle> node_;
  RosBlob message_;
  boost::shared_ptr<const RosBlob> received_;
  OnMessage on_message_;
  ros::Publisher publisher_;
  ros::Subscriber subscriber_;
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) { return hyphos::lab::lab_main<hyphos::lab::Ros1Peer>(argc, argv); }
