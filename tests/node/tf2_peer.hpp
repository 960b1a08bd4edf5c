#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// tf2 (ROS 1, libtf2-dev) behind plain types, because its headers need C++17 and ours need C++20.
namespace hyphos::test {

class Tf2Peer {
 public:
  struct Pose {
    std::int64_t stamp_ns = 0;
    double translation[3] = {};
    double rotation[4] = {};  ///< x, y, z, w
  };
  enum class Answer { found, unknown, disconnected, extrapolation };

  explicit Tf2Peer(double history_s);
  Tf2Peer(const Tf2Peer&) = delete;
  Tf2Peer& operator=(const Tf2Peer&) = delete;
  ~Tf2Peer();

  /// False if tf2 refused it.
  bool set(const std::string& parent, const std::string& child, const Pose& pose, bool is_static);
  Answer get(const std::string& target, const std::string& source, std::int64_t time_ns,
             Pose& pose) const;
  Answer get(const std::string& target, std::int64_t target_time_ns, const std::string& source,
             std::int64_t source_time_ns, const std::string& fixed, Pose& pose) const;

  // For the benchmark. The loops run in this file, so that nothing is added to tf2's own time.

  /// Stores the query times in tf2's format.
  void prepare(const std::vector<std::int64_t>& times_ns);
  /// Runs `count` look-ups, one prepared time after the other. Returns a sum of the results.
  double look_up(const std::string& target, const std::string& source, long count) const;
  /// Sets one frame `count` times, `period_ns` apart, starting where the last call ended.
  void write(std::int64_t period_ns, long count);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hyphos::test
