#pragma once

#include "tests/transport/conformance.hpp"
#include "tests/transport/temporary_folder.hpp"
#include "transport/zmq/zmq.hpp"

namespace hyphos::transport::testing {

inline ZmqConfig zmq_config(const std::string& name) {
  ZmqConfig config;
  config.process_name = name;
  return config;
}

class ZmqFactory final : public Factory {
 public:
  explicit ZmqFactory(bool tcp)
      : endpoint_(tcp ? "tcp://127.0.0.1:*" : "ipc://" + (folder_.path() / "publisher").string()) {}

  std::shared_ptr<Transport> publisher() override {
    ZmqConfig config = zmq_config("publisher");
    config.bind = {{endpoint_, std::nullopt}};
    auto made = make_zmq(std::move(config));
    made->start().or_throw();
    endpoint_ = made->endpoints().at(0);
    return made;
  }
  std::shared_ptr<Transport> subscriber(const std::string& name) override {
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
