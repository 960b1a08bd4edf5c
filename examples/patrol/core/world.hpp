#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "grid_map.hpp"
#include "pose.hpp"

namespace patrol {

using Color = std::array<std::uint8_t, 3>;  // red, green, blue

// A wall or a piece of furniture: an upright block on the floor, parallel to the axes.
struct Block {
  Point2 low;     // m
  Point2 high;    // m
  double height;  // m
  Color color;
};

// The intersection of a ray and a block.
struct BlockHit {
  double enter = 0.0;      // m along the ray
  double leave = 0.0;      // m along the ray
  bool side_is_x = false;  // the face entered is perpendicular to x
  const Block* block = nullptr;
};

// A building seen from above. Immutable once built, so threads may share it.
class World {
 public:
  explicit World(std::vector<Block> blocks) : blocks_(std::move(blocks)) {}

  // 16 m x 12 m: six rooms along a corridor, with doors, furniture and pillars.
  [[nodiscard]] static World building();

  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }

  // The distance to the first block along a ray, m, or `limit` if no block is closer. Cost: one
  // test per block.
  [[nodiscard]] double ray(Point2 from, double angle, double limit) const;

  // All blocks along a ray of unit direction, unordered. Clears `out` and writes them there.
  void hits(Point2 from, Point2 direction, std::vector<BlockHit>& out) const;

  // The world as a map: 100 in cells with their centre in a block, 0 elsewhere. The map ends at the
  // outermost faces. A cell must be larger than 0. Cost: the cells of all blocks.
  [[nodiscard]] GridMap map(double cell_m) const;

  // The distance from a point to the nearest block, m. 0 inside a block.
  [[nodiscard]] double clearance(Point2 p) const;

 private:
  std::vector<Block> blocks_;
};

}  // namespace patrol
