#pragma once

#include <oneapi/tbb/flow_graph.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "hyphos/msgs/sensor.pb.h"
#include "lab/common/peer.hpp"

namespace hyphos::lab {

namespace flow = oneapi::tbb::flow;

/// The way of a message in HyperGraph ROS (paper 001, Sec. III) outside its process. The sender
/// encodes a protobuf message, and puts it behind the length of its head (32 bits), a separator (16
/// bits) and the head, which is protobuf with the name of the channel. A serial node of a oneTBB
/// flow graph sends the frame. The receiving thread decodes head and message, and puts the message
/// as a shared pointer into a serial node, whose body is the callback.
///
/// The published program of the authors also copies the frame several times, and sleeps for a
/// millisecond after each receipt. This class does neither.
class PaperLink {
 public:
  using Frame = std::shared_ptr<std::string>;
  using Scan = std::shared_ptr<const msgs::LaserScan>;

  PaperLink(std::size_t size, std::function<void(const Frame&)> send, OnMessage on_message)
      : send_(std::move(send)), on_message_(std::move(on_message)) {
    scan_.mutable_ranges()->Resize(static_cast<int>(size / sizeof(float)), 1.0F);
    flow::make_edge(out_, sender_);
    flow::make_edge(in_, callback_);
  }
  ~PaperLink() { graph_.wait_for_all(); }
  PaperLink(const PaperLink&) = delete;
  PaperLink& operator=(const PaperLink&) = delete;

  void publish(const std::string& channel, Fill fill) {
    fill(reinterpret_cast<std::byte*>(scan_.mutable_ranges()->mutable_data()));
    scan_.mutable_header()->set_frame_id(channel);
    const auto head = static_cast<std::uint32_t>(scan_.header().ByteSizeLong());
    auto frame = std::make_shared<std::string>();
    frame->resize(kFixed + head + scan_.ByteSizeLong());
    std::memcpy(frame->data(), &head, sizeof head);
    std::memcpy(frame->data() + sizeof head, &kSeparator, sizeof kSeparator);
    auto* const at = reinterpret_cast<std::uint8_t*>(frame->data()) + kFixed;
    scan_.header().SerializeWithCachedSizesToArray(at);
    scan_.SerializeWithCachedSizesToArray(at + head);
    out_.try_put(std::move(frame));
  }

  void received(const char* data, std::size_t size) {
    std::uint32_t head = 0;
    if (size >= kFixed) std::memcpy(&head, data, sizeof head);
    msgs::Header header;
    auto scan = std::make_shared<msgs::LaserScan>();
    const bool whole =
        size >= kFixed && head <= size - kFixed &&
        std::memcmp(data + sizeof head, &kSeparator, sizeof kSeparator) == 0 &&
        header.ParseFromArray(data + kFixed, static_cast<int>(head)) &&
        scan->ParseFromArray(data + kFixed + head, static_cast<int>(size - kFixed - head));
    if (!whole) throw std::runtime_error("a frame that is not complete");
    in_.try_put(std::move(scan));
  }

 private:
  static constexpr std::uint16_t kSeparator = 0x2424;  // "$$", as in the authors' program
  static constexpr std::size_t kFixed = sizeof(std::uint32_t) + sizeof kSeparator;
  using Nothing = flow::continue_msg;

  msgs::LaserScan scan_;  // of the sender. Encoded before publish() returns
  std::function<void(const Frame&)> send_;
  OnMessage on_message_;
  flow::graph graph_;
  flow::broadcast_node<Frame> out_{graph_};
  flow::function_node<Frame> sender_{graph_, flow::serial, [this](const Frame& frame) {
                                       send_(frame);
                                       return Nothing();
                                     }};
  flow::broadcast_node<Scan> in_{graph_};
  flow::function_node<Scan> callback_{
      graph_, flow::serial, [this](const Scan& scan) {
        on_message_(scan->ranges().data(),
                    static_cast<std::size_t>(scan->ranges_size()) * sizeof(float));
        return Nothing();
      }};
};

}  // namespace hyphos::lab
