#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/view/displays/golden/picture.hpp"

namespace hyphos::view::testing {
namespace {

class TwoSourcesGoldenTest : public GoldenTest {
 protected:
  /// Two sources: channels of the second begin with "b/".
  void use_two_sources(Arrange arrange) {
    std::vector<Part> parts(2);
    parts[1].label = "b";
    view.set_parts(parts, [](std::size_t part) -> Store& { return renderer().part(part); });
    view.set_arrange(arrange);
    view.set_ghosts({{}, {part_color(1), 0.6, 0.55}});
    const int width = static_cast<int>(view.panes());
    view.camera().set_size(kWidth * 2 / width, kHeight * 2);
    show_robot("", 0, 0);
    show_robot("b/", 0.8, 0.5);
  }

  /// The frames have equal names in both sources.
  void show_robot(const std::string& prefix, double x, double yaw) {
    send_part(prefix + "tf", transforms(x, yaw));
    show("points", prefix + "lidar");
    set("color", "flat");
    set("size", "4");
    show("path", prefix + "path");
    show("pose_array", prefix + "poses");
    std::vector<std::array<float, 4>> wall;
    for (int i = 0; i < 120; ++i) {
      for (int j = 0; j < 30; ++j) {
        wall.push_back(
            {1.5F, 0.02F * static_cast<float>(i) - 1.2F, 0.03F * static_cast<float>(j), 0});
      }
    }
    const auto message = cloud("base", 1, wall);
    send_part(prefix + "lidar", message.head, message.bytes);
    msgs::Path path;
    set_header(*path.mutable_header(), "base", 1);
    msgs::PoseArray poses;
    set_header(*poses.mutable_header(), "base", 1);
    for (int i = 0; i < 5; ++i) {
      auto& pose = *path.add_poses();
      set_header(*pose.mutable_header(), "base", 1);
      set_pose(*pose.mutable_pose(), 0.4 * i - 2, 0.2 * i, 0.02);
      set_pose(*poses.add_poses(), 0.4 * i - 2, -0.8, 0.02, 0.5);
    }
    send_part(prefix + "path", path);
    send_part(prefix + "poses", poses);
  }

  static msgs::TfMessage transforms(double x, double yaw) {
    msgs::TfMessage message;
    *message.add_transforms() = transform("map", "base", x, 0, 0, yaw, 1);
    return message;
  }

  template <typename T>
  void send_part(const std::string& channel, const T& message, std::vector<std::byte> buffer = {}) {
    if (channel.starts_with("b/")) part_ = 1;
    send(channel, message, 1, std::move(buffer));
    part_ = 0;
  }
};

TEST_F(TwoSourcesGoldenTest, two_sources_ghost) {
  use_two_sources(Arrange::ghost);
  check();
}

TEST_F(TwoSourcesGoldenTest, two_sources_columns) {
  use_two_sources(Arrange::columns);
  check();
}

}  // namespace
}  // namespace hyphos::view::testing
