#pragma once

#include <malloc.h>
#include <ros/callback_queue.h>
#include <ros/ros.h>

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/common/peer.hpp"
#include "lab/peers/rosmaster.hpp"

namespace hyphos::lab {

/// A roscpp message whose last field, the payload, is octets. `Kind` provides the rest, as a
/// generated header would: name, md5sum, definition, the bytes before the octets (`head`), and the
/// position of the octets (`octets_of`, empty for an invalid message). Debian's generated
/// headers do not compile as C++20.
template <class Kind>
struct RosOctets {
  std::string head;  ///< Kind::head(). Generated code would write it field by field
  std::vector<std::uint8_t> data;

  void resize(std::size_t size) {
    if (size == data.size() && !head.empty()) return;
    data.resize(size);
    head = Kind::head(size);
  }
};

}  // namespace hyphos::lab

namespace ros {

template <class Kind>
struct message_traits::IsMessage<hyphos::lab::RosOctets<Kind>> : TrueType {};
template <class Kind>
struct message_traits::MD5Sum<hyphos::lab::RosOctets<Kind>> {
  static const char* value() { return Kind::kMd5; }
  static const char* value(const hyphos::lab::RosOctets<Kind>&) { return value(); }
};
template <class Kind>
struct message_traits::DataType<hyphos::lab::RosOctets<Kind>> {
  static const char* value() { return Kind::kType; }
  static const char* value(const hyphos::lab::RosOctets<Kind>&) { return value(); }
};
template <class Kind>
struct message_traits::Definition<hyphos::lab::RosOctets<Kind>> {
  static const char* value() { return Kind::kDefinition; }
  static const char* value(const hyphos::lab::RosOctets<Kind>&) { return value(); }
};
template <class Kind>
struct serialization::Serializer<hyphos::lab::RosOctets<Kind>> {
  using Message = hyphos::lab::RosOctets<Kind>;

  template <class Stream>
  static void write(Stream& stream, const Message& message) {
    const std::uint32_t before = length(message.head.size());
    std::memcpy(stream.advance(before), message.head.data(), before);
    const std::uint32_t size = length(message.data.size());
    std::memcpy(stream.advance(size), message.data.data(), size);
  }
  template <class Stream>
  static void read(Stream& stream, Message& message) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(stream.getData());
    const auto octets = Kind::octets_of({bytes, stream.getLength()});
    if (octets.empty()) throw StreamOverrunException("a message without octets");
    const auto* const first = reinterpret_cast<const std::uint8_t*>(octets.data());
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes);
    message.head.assign(begin, first);
    message.data.assign(first, first + octets.size());
    stream.advance(stream.getLength());
  }
  static std::uint32_t serializedLength(const Message& message) {
    return length(message.head.size() + message.data.size());
  }

 private:
  static std::uint32_t length(std::size_t size) { return static_cast<std::uint32_t>(size); }
};

}  // namespace ros

namespace hyphos::lab {

/// A roscpp node, with TCP_NODELAY except in the variant `nagle`. roscpp allocates every message,
/// so the allocator is configured to keep freed memory. Otherwise large messages would pay more for
/// page faults than for ROS (a factor of three at 500 KB). In one process, pointers to messages are
/// passed, and messages are reused when no reference can remain.
template <class Kind>
class RoscppPeer : public Peer {
 public:
  static constexpr int kQueue = 16;

  RoscppPeer(const Options& options, const std::string& master_host) : Peer(options) {
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    const ros::M_string how{
        {"__master", "http://" + master_host + ":" + std::to_string(master_port(options))},
        {"__ip", options.own_address()}};
    // The default is a log in the home directory.
    setenv("ROS_LOG_DIR", options.run_dir.c_str(), 1);
    ros::init(how, options.role + std::to_string(options.index),
              ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
    node_ = std::make_unique<ros::NodeHandle>();
    // One message is held by the publisher, and one by the callback.
    const int messages = options.in_process() ? queue() + 2 : 1;
    for (int i = 0; i < messages; ++i) {
      messages_.push_back(boost::make_shared<Message>());
      messages_.back()->resize(options.size);
    }
  }
  ~RoscppPeer() override {
    if (spinner_) spinner_->stop();
  }

  void open_publisher(const Edge& edge) override {
    publisher_ = node_->advertise<Message>("/" + edge.name, queue());
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    on_message_ = std::move(on_message);
    ros::TransportHints hints;
    if (options_.variant != "nagle") hints.tcpNoDelay();
    subscriber_ = node_->subscribe("/" + edge.name, queue(), &RoscppPeer::receive, this, hints);
    if (!options_.in_process()) return;
    spinner_ = std::make_unique<ros::AsyncSpinner>(1);
    spinner_->start();
  }
  void publish(std::size_t size, Fill fill) override {
    Message& message = *messages_[next_];
    message.resize(size);
    fill(reinterpret_cast<std::byte*>(message.data.data()));
    if (options_.in_process()) {
      publisher_.publish(messages_[next_]);
    } else {
      publisher_.publish(message);
    }
    next_ = (next_ + 1) % messages_.size();
  }
  void forward(const void*, std::size_t) override { publisher_.publish(received_); }
  void spin(const std::function<bool()>& stopped) override {
    while (!stopped()) ros::getGlobalCallbackQueue()->callAvailable(ros::WallDuration(1.0));
  }

 private:
  using Message = RosOctets<Kind>;

  [[nodiscard]] int queue() const { return options_.queue_or(kQueue); }

  void receive(const boost::shared_ptr<const Message>& message) {
    received_ = message;
    // In process, no other code has read the message.
    if (options_.in_process()) touch(reinterpret_cast<const std::byte*>(&message->data.back()));
    on_message_(message->data.data(), message->data.size());
    received_.reset();
  }

  std::unique_ptr<ros::NodeHandle> node_;
  std::unique_ptr<ros::AsyncSpinner> spinner_;
  std::vector<boost::shared_ptr<Message>> messages_;
  std::size_t next_ = 0;
  boost::shared_ptr<const Message> received_;
  OnMessage on_message_;
  ros::Publisher publisher_;
  ros::Subscriber subscriber_;
};

}  // namespace hyphos::lab
