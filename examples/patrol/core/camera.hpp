#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pose.hpp"
#include "world.hpp"

namespace patrol {

struct CameraConfig {
  int width = 640;              // pixels
  int height = 480;             // pixels
  double field_of_view = 1.40;  // rad, horizontal
  double height_m = 0.9;        // of the lens above the floor
};

// Draws the view of a level camera on the robot: blocks with brickwork and shade, a tiled floor, a
// ceiling. Each column is one ray, and the blocks along the ray are drawn from far to near. Not
// thread-safe, because it keeps scratch memory. Allocates nothing after the first picture. Cost: a
// few ms on one core.
class Camera {
 public:
  explicit Camera(CameraConfig config = {});

  [[nodiscard]] const CameraConfig& config() const { return config_; }
  // The size of a picture: width * height * 3.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] double focal_length() const { return focal_; }  // pixels

  // rgb: bytes() bytes, written row by row, top row first.
  void render(const World& world, const Pose2& camera, std::span<std::uint8_t> rgb);

 private:
  void draw_floor_and_ceiling(const Pose2& camera, std::span<std::uint8_t> rgb) const;
  void draw_hit(const BlockHit& hit, Point2 from, Point2 direction, double flatten, int column,
                std::span<std::uint8_t> rgb) const;

  CameraConfig config_;
  double focal_;
  std::vector<BlockHit> hits_;
};

}  // namespace patrol
