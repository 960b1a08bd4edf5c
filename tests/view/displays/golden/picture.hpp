#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/view/displays/messages.hpp"
#include "view/displays/scene_view.hpp"
#include "view/scene/renderer.hpp"

/// Draws every display by EGL, without a display server, and compares with tests/view/golden.
/// Drivers differ in the rounding of colours and edges, so that a picture may differ a little.
namespace hyphos::view::testing {

/// All pictures share one context, as each start of OpenGL takes as long as a picture.
Renderer& renderer();

class GoldenTest : public ::testing::Test {
 protected:
  static constexpr int kWidth = 320;
  static constexpr int kHeight = 240;

  GoldenTest();

  Display& show(const std::string& kind, const std::string& channel);
  /// Of the display that was added last.
  void set(const std::string& property, const std::string& value);

  template <typename T>
  void send(const std::string& channel, const T& message, double seconds = 1,
            std::vector<std::byte> buffer = {}) {
    const std::uint32_t id = channel_id(channel, std::string(message.GetTypeName()));
    view.take(sample(id, message, seconds, std::move(buffer)));
  }
  void move(const std::string& parent, const std::string& child, double x, double y, double z,
            double yaw = 0, double seconds = 1);

  /// Draws, and compares with the picture of the test's name.
  void check();

  SceneView view{renderer()};
  std::vector<Channel> channels;
  std::uint32_t part_ = 0;  // of new channels

 private:
  std::uint32_t channel_id(const std::string& name, const std::string& type);
};

/// Points of a surface of side x side points. The fourth number is the distance to its middle.
std::vector<std::array<float, 4>> waves(int side);

}  // namespace hyphos::view::testing
