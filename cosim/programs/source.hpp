#pragma once

#include <memory>
#include <vector>

#include "cosim/programs/flow.hpp"

namespace hyphos::cosim {

/// What a flow sends, and when: one message after another. Bytes and times depend on the options
/// and the seed alone.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  /// When the next message is due; kNever: that was all.
  [[nodiscard]] virtual Time due() const = 0;
  /// That message, with room for the header in front. Only if one is due.
  [[nodiscard]] virtual std::vector<std::byte> take() = 0;
};

/// Instants at a rate, for as long and as often as asked.
class Beat {
 public:
  Beat(const FlowOptions& options, std::uint16_t number, std::uint64_t seed);

  [[nodiscard]] Time due() const;
  /// Goes on to the next one; returns the number of the one before.
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

/// What sensor_msgs/Imu takes with "imu_link" as its frame, behind the header of flows.
inline constexpr std::size_t kImuBytes = kHeaderBytes + 4 + 8 + 4 + 8 + 37 * 8;

namespace make {
std::unique_ptr<Source> accelerometer(const FlowOptions& options, std::uint16_t number,
                                      std::uint64_t seed);
std::unique_ptr<Source> recording(const FlowOptions& options);
std::unique_ptr<Source> file(const FlowOptions& options);
}  // namespace make

}  // namespace hyphos::cosim
