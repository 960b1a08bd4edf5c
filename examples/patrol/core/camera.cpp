#include "camera.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace patrol {
namespace {

constexpr double kCeiling = 2.5;  // m

// Light falls off with distance. 256 is full brightness.
int light(double distance_m) { return static_cast<int>(256.0 / (1.0 + 0.07 * distance_m)); }

void put(std::uint8_t* pixel, const Color& color, int brightness) {
  for (std::size_t i = 0; i < 3; ++i) {
    pixel[i] = static_cast<std::uint8_t>(std::min(color[i] * brightness >> 8, 255));
  }
}

// Brickwork. along: m along the face, not negative. up: m above the floor. Mortar is darker, bricks
// differ a little, and a dark band runs along the floor.
int brick_shade(double along, double up) {
  if (up < 0.1) return 140;
  const int course = static_cast<int>(up * (1.0 / 0.125));
  const double shifted = along * (1.0 / 0.25) + (course % 2 == 0 ? 0.0 : 0.5);
  const int brick = static_cast<int>(shifted);
  if (up * 8.0 - course < 0.1 || shifted - brick < 0.05) return 190;
  const unsigned mix = static_cast<unsigned>(brick * 73 + course * 151) * 2654435761U;
  return 236 + static_cast<int>(mix >> 27);
}

// Furniture: stacked boards.
int board_shade(double up) {
  const double boards = up * (1.0 / 0.2);
  const int board = static_cast<int>(boards);
  return boards - board < 0.06 ? 150 : 256 - 24 * (board % 2);
}

// floor() for numbers above -4096, a range that covers every visible point. The library's floor()
// is a function call.
int fast_floor(double v) { return static_cast<int>(v + 4096.0) - 4096; }

}  // namespace

Camera::Camera(CameraConfig config)
    : config_(config), focal_(config.width / 2.0 / std::tan(config.field_of_view / 2.0)) {}

std::size_t Camera::bytes() const {
  return static_cast<std::size_t>(config_.width) * static_cast<std::size_t>(config_.height) * 3;
}

void Camera::render(const World& world, const Pose2& camera, std::span<std::uint8_t> rgb) {
  assert(rgb.size() == bytes());
  draw_floor_and_ceiling(camera, rgb);
  for (int column = 0; column < config_.width; ++column) {
    const double side = (config_.width / 2.0 - column - 0.5) / focal_;
    const double angle = camera.theta + std::atan(side);
    const Point2 direction{std::cos(angle), std::sin(angle)};
    const double flatten = 1.0 / std::sqrt(1.0 + side * side);  // length along the ray -> depth
    world.hits(camera.position(), direction, hits_);
    std::sort(hits_.begin(), hits_.end(),
              [](const BlockHit& a, const BlockHit& b) { return a.enter < b.enter; });
    // The first block that reaches the ceiling hides everything behind it.
    const auto last = std::find_if(hits_.begin(), hits_.end(), [](const BlockHit& hit) {
      return hit.block->height >= kCeiling;
    });
    const auto count = last == hits_.end() ? last - hits_.begin() : last - hits_.begin() + 1;
    for (auto i = count; i-- > 0;) {
      draw_hit(hits_[static_cast<std::size_t>(i)], camera.position(), direction, flatten, column,
               rgb);
    }
  }
}

void Camera::draw_hit(const BlockHit& hit, Point2 from, Point2 direction, double flatten,
                      int column, std::span<std::uint8_t> rgb) const {
  const double eye = config_.height_m, middle = config_.height / 2.0;
  const double near = std::max(hit.enter * flatten, 0.05),
               far = std::max(hit.leave * flatten, near);
  auto row = [&](double up, double depth) {
    return std::clamp(static_cast<int>(std::lround(middle - (up - eye) * focal_ / depth)), 0,
                      config_.height);
  };
  const std::size_t stride = static_cast<std::size_t>(config_.width) * 3;
  std::uint8_t* pixel = rgb.data() + static_cast<std::size_t>(column) * 3;
  const double height = hit.block->height;
  const int top = row(height, near), bottom = row(0.0, near);
  // The top of a low block, seen from above.
  for (int y = row(height, far); y < top; ++y) {
    put(pixel + static_cast<std::size_t>(y) * stride, hit.block->color, 300);
  }
  const Point2 at{from.x + hit.enter * direction.x, from.y + hit.enter * direction.y};
  const double along = (hit.side_is_x ? at.y : at.x) + 100.0;
  const int brightness = light(hit.enter) * (hit.side_is_x ? 200 : 256) >> 8;
  const double up_per_row = near / focal_;
  const bool brick = height >= kCeiling;
  for (int y = top; y < bottom; ++y) {
    const double up = std::max(0.0, eye + (middle - y - 0.5) * up_per_row);
    put(pixel + static_cast<std::size_t>(y) * stride, hit.block->color,
        brightness * (brick ? brick_shade(along, up) : board_shade(up)) >> 8);
  }
}

void Camera::draw_floor_and_ceiling(const Pose2& camera, std::span<std::uint8_t> rgb) const {
  constexpr Color kLight{150, 140, 126}, kDark{104, 98, 92}, kCeil{206, 210, 214};
  const double c = std::cos(camera.theta), s = std::sin(camera.theta);
  const double half_width = config_.width / 2.0;
  for (int y = 0; y < config_.height; ++y) {
    std::uint8_t* pixel =
        rgb.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(config_.width) * 3;
    const double below = y + 0.5 - config_.height / 2.0;  // rows under the horizon
    const bool floor = below > 0.0;
    const double depth = (floor ? config_.height_m : kCeiling - config_.height_m) * focal_ /
                         std::max(std::abs(below), 0.5);
    const int brightness = light(depth);
    // The world point of the leftmost pixel, and its change per pixel.
    const double per_pixel = depth / focal_;
    double x = camera.x + depth * c - s * half_width * per_pixel;
    double wy = camera.y + depth * s + c * half_width * per_pixel;
    const double dx = s * per_pixel, dy = -c * per_pixel;
    for (int i = 0; i < config_.width; ++i, pixel += 3, x += dx, wy += dy) {
      const int tile_x = fast_floor(x * 2.0);
      const int tile_y = fast_floor(wy * 2.0);
      if (floor) {
        put(pixel, ((tile_x + tile_y) & 1) != 0 ? kLight : kDark, brightness);
      } else {
        // A lamp in every fourth panel.
        const bool lamp = (tile_x & 3) == 1 && (tile_y & 3) == 1;
        put(pixel, kCeil, lamp ? 330 : brightness);
      }
    }
  }
}

}  // namespace patrol
