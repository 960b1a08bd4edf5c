#include "tests/view/displays/golden/picture.hpp"

#include <filesystem>
#include <memory>
#include <string_view>

#include "view/core/picture.hpp"
#include "view/shell_egl.hpp"

namespace hyphos::view::testing {
namespace {

constexpr int kTolerance = 40;           // of a channel
constexpr double kMostDifferent = 0.01;  // of the pixels
bool g_update = false;                   // --update: writes the golden pictures

struct Context {
  std::unique_ptr<EglContext> egl;
  std::unique_ptr<Renderer> renderer;
};

}  // namespace

Renderer& renderer() {
  static Context made = [] {
    Context one;
    one.egl = EglContext::open().or_throw();
    RendererOptions options;
    options.moving_points = 0;
    options.density = 2;
    one.renderer = Renderer::open(one.egl->loader(), options).or_throw();
    return one;
  }();
  return *made.renderer;
}

GoldenTest::GoldenTest() {
  view.camera().set_size(kWidth * 2, kHeight * 2);
  view.camera().set_state({.distance = 9, .yaw = -2.2, .pitch = 0.55});
  show("grid", "");
}

Display& GoldenTest::show(const std::string& kind, const std::string& channel) {
  auto item = view.add(kind, channel);
  EXPECT_TRUE(item.ok());
  return *(*item)->display;
}

void GoldenTest::set(const std::string& property, const std::string& value) {
  const auto good = view.set(view.items().back(), property, value);
  EXPECT_TRUE(good.ok()) << (good.ok() ? "" : good.error().message);
}

void GoldenTest::move(const std::string& parent, const std::string& child, double x, double y,
                      double z, double yaw, double seconds) {
  msgs::TfMessage message;
  *message.add_transforms() = transform(parent, child, x, y, z, yaw, seconds);
  send("tf", message, seconds);
}

std::uint32_t GoldenTest::channel_id(const std::string& name, const std::string& type) {
  std::uint32_t id = 0;
  while (id < channels.size() && channels[id].name != name) ++id;
  if (id < channels.size()) return id;
  Channel& made = channels.emplace_back();
  made.id = id;
  made.name = name;
  made.type = type;
  made.encoding = Encoding::protobuf;
  made.part = part_;
  view.set_channels(channels);
  return id;
}

void GoldenTest::check() {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  view.update(at_s(1));
  do {
    view.draw(renderer());
  } while (renderer().refining());
  Picture drawn{kWidth * 2, kHeight * 2, renderer().read()};
  const Picture picture = shrink(drawn, 2);
  std::filesystem::create_directories(GOLDEN_OUT);
  const std::string actual = std::string(GOLDEN_OUT) + "/" + name + ".png";
  ASSERT_TRUE(write_png(actual, picture).ok());
  const std::string golden_path = std::string(GOLDEN_DIR) + "/" + name + ".png";
  if (g_update) {
    ASSERT_TRUE(write_png(golden_path, picture).ok());
    return;
  }
  const auto golden = read_png(golden_path);
  ASSERT_TRUE(golden.ok()) << golden.error().to_string();
  const auto found = compare(picture, *golden, kTolerance);
  ASSERT_TRUE(found.ok()) << found.error().to_string();
  EXPECT_LT(static_cast<double>(found->different),
            kMostDifferent * static_cast<double>(found->pixels))
      << actual << " differs from " << golden_path;
  // The picture shows more than the background.
  EXPECT_GT(
      compare(picture, Picture{kWidth, kHeight, std::vector<std::uint8_t>(picture.rgba.size(), 27)},
              20)
          ->different,
      1'000U);
}

std::vector<std::array<float, 4>> waves(int side) {
  std::vector<std::array<float, 4>> points;
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      const float x = 8.0F * static_cast<float>(i) / static_cast<float>(side) - 4;
      const float y = 8.0F * static_cast<float>(j) / static_cast<float>(side) - 4;
      const float z = 0.6F * std::sin(x * 1.5F) * std::cos(y * 1.2F) + 0.6F;
      points.push_back({x, y, z, std::hypot(x, y)});
    }
  }
  return points;
}

}  // namespace hyphos::view::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--update") hyphos::view::testing::g_update = true;
  }
  return RUN_ALL_TESTS();
}
