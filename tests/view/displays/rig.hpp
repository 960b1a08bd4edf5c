#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake_store.hpp"
#include "messages.hpp"
#include "view/displays/scene_view.hpp"

namespace hyphos::view::testing {

/// A view with channels, without OpenGL.
class Rig {
 public:
  explicit Rig(std::size_t budget = std::size_t{512} << 20U) : view(store, budget) {}

  /// Adds a display and its channel. The type is the first that the display shows.
  Display& show(const std::string& kind, const std::string& channel, std::string type = "") {
    auto item = view.add(kind, channel);
    EXPECT_TRUE(item.ok());
    if (type.empty() && !(*item)->kind->types.empty()) type = (*item)->kind->types.front();
    add_channel(channel, type);
    return *(*item)->display;
  }
  std::uint32_t add_channel(const std::string& name, const std::string& type) {
    for (const Channel& each : channels) {
      if (each.name == name) return each.id;
    }
    Channel made;
    made.id = static_cast<std::uint32_t>(channels.size());
    made.name = name;
    made.type = type;
    made.encoding = Encoding::protobuf;
    channels.push_back(made);
    view.set_channels(channels);
    return channels.back().id;
  }
  template <typename T>
  void send(const std::string& channel, const T& message, double seconds,
            std::vector<std::byte> buffer = {}) {
    view.take(sample(add_channel(channel, std::string(message.GetTypeName())), message, seconds,
                     std::move(buffer)));
    view.update(at_s(seconds));
  }
  void send(const std::string& channel, const CloudMessage& cloud, double seconds) {
    send(channel, cloud.head, seconds, cloud.bytes);
  }
  void send_bytes(const std::string& channel, std::string_view bytes, double seconds) {
    Sample made;
    made.channel = add_channel(channel, "");
    made.time_ns = at_s(seconds);
    made.payload = Buffer::copy_of(bytes);
    view.take(made);
    view.update(at_s(seconds));
  }
  void move(const std::string& parent, const std::string& child, double x, double y, double z,
            double yaw, double seconds) {
    msgs::TfMessage message;
    *message.add_transforms() = transform(parent, child, x, y, z, yaw, seconds);
    send("tf", message, seconds);
  }
  FakePainter paint() {
    FakePainter painter;
    for (const auto& each : view.items()) {
      if (each.display->visible()) each.display->paint(painter);
    }
    return painter;
  }

  FakeStore store;
  SceneView view;
  std::vector<Channel> channels;
};

}  // namespace hyphos::view::testing
