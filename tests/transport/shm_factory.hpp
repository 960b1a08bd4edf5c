#pragma once

#include <stdlib.h>

#include <filesystem>

#include "tests/transport/conformance.hpp"
#include "transport/shm.hpp"

namespace hyphos::transport::testing {

/// Processes that meet in a directory of their own.
class ShmFactory final : public Factory {
 public:
  ShmFactory() {
    std::string name = "/dev/shm/hyphos-test-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~ShmFactory() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::unique_ptr<Transport> publisher() override { return make("publisher"); }
  std::unique_ptr<Transport> subscriber(const std::string& name) override { return make(name); }

 private:
  std::unique_ptr<Transport> make(const std::string& name) {
    ShmConfig config;
    config.base_dir = folder_;
    config.process_name = name;
    config.metrics_bytes = 0;
    config.pool_limit_bytes = 256 << 20;
    auto made = make_shm(std::move(config));
    made->start().or_throw();
    return made;
  }
  std::filesystem::path folder_;
};

}  // namespace hyphos::transport::testing
