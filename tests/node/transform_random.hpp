#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "hyphos/transforms.hpp"

namespace hyphos::test {

/// Random trees with random histories. The same seed gives the same tree.
class RandomForest {
 public:
  struct Edge {
    std::string parent;
    std::string child;
    bool is_static = false;
    std::vector<Transform> samples;  ///< by stamp. One sample if static
  };

  static constexpr std::int64_t kStart = 1'700'000'000'000'000'000;
  static constexpr std::int64_t kSpan = 2'000'000'000;

  RandomForest(unsigned seed, int frames) : random_(seed) {
    for (int i = 1; i < frames; ++i) {
      Edge edge;
      edge.parent = name(std::uniform_int_distribution<int>(0, i - 1)(random_));
      edge.child = name(i);
      edge.is_static = random_() % 4 == 0;
      const int count = edge.is_static ? 1 : std::uniform_int_distribution<int>(20, 60)(random_);
      for (int s = 0; s < count; ++s) {
        // The first and the last sample at the ends, so that every time between is covered.
        const std::int64_t stamp =
            s == 0 ? kStart : kStart + kSpan * s / std::max(count - 1, 1) + jitter(s, count);
        edge.samples.push_back({edge.parent, edge.child, Time{stamp}, vector(), rotation()});
      }
      edges_.push_back(std::move(edge));
    }
  }

  [[nodiscard]] static std::string name(int i) { return "frame_" + std::to_string(i); }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  [[nodiscard]] Time time() {
    return Time{std::uniform_int_distribution<std::int64_t>(kStart, kStart + kSpan)(random_)};
  }
  [[nodiscard]] std::string frame() {
    return name(std::uniform_int_distribution<int>(0, static_cast<int>(edges_.size()))(random_));
  }
  [[nodiscard]] std::mt19937& random() { return random_; }

  void fill(TransformTree& tree) const {
    for (const Edge& edge : edges_) {
      for (const Transform& t : edge.samples) {
        (edge.is_static ? tree.set_static(t) : tree.set(t)).or_throw();
      }
    }
  }

 private:
  std::int64_t jitter(int s, int count) {
    if (s == count - 1) return 0;
    return std::uniform_int_distribution<std::int64_t>(-1'000'000, 1'000'000)(random_);
  }
  Vector3 vector() {
    std::uniform_real_distribution<double> d(-10, 10);
    return {d(random_), d(random_), d(random_)};
  }
  Quaternion rotation() {
    std::normal_distribution<double> d;
    const Quaternion q{d(random_), d(random_), d(random_), d(random_)};
    const double n = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return {q.x / n, q.y / n, q.z / n, q.w / n};
  }

  std::mt19937 random_;
  std::vector<Edge> edges_;
};

}  // namespace hyphos::test
