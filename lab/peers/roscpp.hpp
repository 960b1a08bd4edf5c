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

/// A message of roscpp whose payload is its last field, octets. `Kind` says the rest, as a
/// generated header would: name, md5sum, definition, what stands before the octets (`head`), and
/// where they are (`octets_of`; none if it is no such message). Debian's generated headers do not
/// compile as C++20.
template <class Kind>
struct RosOctets {
  std::vector<std::uint8_t> data;
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
    const std::string head = Kind::head(message.data.size());
    std::memcpy(stream.advance(length(head.size())), head.data(), head.size());
    const std::uint32_t size = length(message.data.size());
    std::memcpy(stream.advance(size), message.data.data(), size);
  }
  template <class Stream>
  static void read(Stream& stream, Message& message) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(stream.getData());
    const auto octets = Kind::octets_of({bytes, stream.getLength()});
    if (octets.empty()) throw StreamOverrunException("a message without octets");
    const auto* const first = reinterpret_cast<const std::uint8_t*>(octets.data());
    message.data.assign(first, first + octets.size());
    stream.advance(stream.getLength());
  }
  static std::uint32_t serializedLength(const Message& message) {
    return length(Kind::head(message.data.size()).size() + message.data.size());
  }

 private:
  static std::uint32_t length(std::size_t size) { return static_cast<std::uint32_t>(size); }
};

}  // namespace ros

namespace hyphos::lab {

/// A node of roscpp, TCP_NODELAY on. It allocates every message anew, so the allocator is told to
/// keep freed memory: otherwise large messages would pay for page faults more than for ROS (a
/// factor of three at 500 KB).
template <class Kind>
class RoscppPeer : public Peer {
 public:
  static constexpr int kQueue = 16;

  RoscppPeer(const Options& options, const std::string& master_host) : Peer(options) {
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    const ros::M_string how{
        {"__master", "http://" + master_host + ":" + std::to_string(master_port(options))},
        {"__ip", options.own_addr()}};
    // The log would otherwise go to the home directory.
    setenv("ROS_LOG_DIR", options.run_dir.c_str(), 1);
    ros::init(how, options.role + std::to_string(options.index),
              ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
    node_ = std::make_unique<ros::NodeHandle>();
    message_.data.resize(options.size);
  }

  void open_publisher(const Edge& edge) override {
    publisher_ = node_->advertise<Message>("/" + edge.name, kQueue);
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    on_message_ = std::move(on_message);
    subscriber_ = node_->subscribe("/" + edge.name, kQueue, &RoscppPeer::receive, this,
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
  using Message = RosOctets<Kind>;

  void receive(const boost::shared_ptr<const Message>& message) {
    received_ = message;
    on_message_(message->data.data(), message->data.size());
    received_.reset();
  }

  std::unique_ptr<ros::NodeHandle> node_;
  Message message_;
  boost::shared_ptr<const Message> received_;
  OnMessage on_message_;
  ros::Publisher publisher_;
  ros::Subscriber subscriber_;
};

}  // namespace hyphos::lab
