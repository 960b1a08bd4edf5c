#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <thread>

#include "base/unique_fd.hpp"
#include "hyphos/node.hpp"
#include "hyphos/result.hpp"

namespace hyphos::builtin {

/// Reads a device file in its own thread until it is destroyed. A device that is absent, or that
/// is unplugged, is opened again once a second. The node logs each loss and each return.
class DeviceReader {
 public:
  struct Functions {
    std::function<Result<UniqueFd>()> open;                ///< opens and prepares the device
    std::function<void(std::span<const std::byte>)> data;  ///< the bytes of a read(), never empty
    std::function<void()> lost = [] {};                    ///< the device is gone
    std::function<void(int)> stop = [](int) {};            ///< before the open device is closed
  };

  /// `name` names the device in log lines.
  DeviceReader(const Logger& log, std::string name, Functions functions);
  DeviceReader(const DeviceReader&) = delete;
  DeviceReader& operator=(const DeviceReader&) = delete;
  ~DeviceReader();

 private:
  void run();
  /// Reads until the device is gone, or until the end. Returns the reason.
  std::string read(int device);
  /// Waits at most a second. Returns true at the end of this object.
  [[nodiscard]] bool ended_within_a_second() const;

  const Logger log_;
  const std::string name_;
  const Functions functions_;
  const UniqueFd end_;  // an eventfd
  std::thread thread_;
};

}  // namespace hyphos::builtin
