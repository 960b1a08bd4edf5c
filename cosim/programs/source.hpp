#pragma once

#include <memory>
#include <vector>

#include "cosim/programs/flow.hpp"

namespace hyphos::cosim {

/// The messages of a flow and their times, one after another. Bytes and times depend only on the
/// options and the seed.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  /// The time of the next message. kNever: no message is left.
  [[nodiscard]] virtual Time due() const = 0;
  /// Returns that message, with room for the header in front. Call it only if a message is due.
  [[nodiscard]] virtual std::vector<std::byte> take() = 0;
};

/// Instants at a rate, within the configured duration and count.
class Beat {
 public:
  Beat(const FlowOptions& options, std::uint16_t number, std::uint64_t seed);

  [[nodiscard]] Time due() const;
  /// Advances to the next instant, and returns the number of the current one.
  std::uint64_t next() { return taken_++; }

 private:
  Time first_;
  Time end_;
  double period_ns_;
  std::uint64_t count_;
  std::uint64_t taken_ = 0;
};

[[nodiscard]] std::unique_ptr<Source> make_source(const FlowOptions& options, std::uint16_t number,
                                                  std::uint64_t seed);

/// The size of a sensor_msgs/Imu with "imu_link" as its frame, after the flow header.
inline constexpr std::size_t kImuBytes = kHeaderBytes + 4 + 8 + 4 + 8 + 37 * 8;

namespace make {
std::unique_ptr<Source> accelerometer(const FlowOptions& options, std::uint16_t number,
                                      std::uint64_t seed);
std::unique_ptr<Source> recording(const FlowOptions& options);
std::unique_ptr<Source> file(const FlowOptions& options);
}  // namespace make

}  // namespace hyphos::cosim
