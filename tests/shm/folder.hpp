#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "shm/participant.hpp"

namespace hyphos::shm::testing {

/// A separate folder for the participants of one test.
class Folder {
 public:
  Folder() {
    std::string name = "/dev/shm/hyphos-test-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The folder of the participants of domain "0".
  [[nodiscard]] std::filesystem::path domain() const {
    return path_ / ("hyphos-" + std::to_string(::geteuid())) / "0";
  }
  [[nodiscard]] std::size_t files() const {
    std::size_t n = 0;
    std::error_code gone;  // already removed by the last participant
    for (std::filesystem::directory_iterator at(domain(), gone), end; !gone && at != end;
         at.increment(gone)) {
      ++n;
    }
    return n;
  }
  [[nodiscard]] Result<std::shared_ptr<Participant>> join(std::uint64_t pool_limit = 64
                                                                                     << 20) const {
    ParticipantOptions options;
    options.base = path_;
    options.process_name = "test";
    options.pool_limit_bytes = pool_limit;
    return Participant::create(options);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace hyphos::shm::testing
