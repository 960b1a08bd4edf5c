#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>

#include "tests/transport/conformance.hpp"
#include "transport/zmq.hpp"

namespace hyphos::transport::testing {

/// A folder that exists as long as the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "hyphos-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline ZmqConfig zmq_config(const std::string& name) {
  ZmqConfig config;
  config.process_name = name;
  return config;
}

class ZmqFactory final : public Factory {
 public:
  explicit ZmqFactory(bool tcp)
      : endpoint_(tcp ? "tcp://127.0.0.1:*" : "ipc://" + (folder_.path() / "publisher").string()) {}

  std::unique_ptr<Transport> publisher() override {
    ZmqConfig config = zmq_config("publisher");
    config.bind = {endpoint_};
    auto made = make_zmq(std::move(config));
    made->start().or_throw();
    endpoint_ = made->endpoints().at(0);
    return made;
  }
  std::unique_ptr<Transport> subscriber(const std::string& name) override {
    auto made = unstarted_subscriber(name);
    made->start().or_throw();
    return made;
  }
  std::unique_ptr<Transport> unstarted_subscriber(const std::string& name) {
    ZmqConfig config = zmq_config(name);
    config.connect = {{endpoint_, std::nullopt, std::nullopt}};
    return make_zmq(std::move(config));
  }

 private:
  TemporaryFolder folder_;
  std::string endpoint_;
};

}  // namespace hyphos::transport::testing
