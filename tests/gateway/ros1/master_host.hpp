#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gateway/ros1/master.hpp"

namespace hyphos::gateway::ros1 {

/// A master that can be stopped and started again. Another program may take its port meanwhile,
/// unless it is a port of this test.
class MasterHost {
 public:
  MasterHost() { begin(0); }
  ~MasterHost() { end(); }
  MasterHost(const MasterHost&) = delete;
  MasterHost& operator=(const MasterHost&) = delete;

  void end() {
    loop_.reset();
    master_.reset();
  }
  void begin(std::uint16_t port) {
    loop_ = std::make_unique<net::Loop>();
    master_ = Master::open(*loop_, {.port = port}).or_throw();
    port_ = master_->port();
  }
  void move_to(std::uint16_t port) {
    end();
    begin(port);
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string uri() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/";
  }

 private:
  std::unique_ptr<net::Loop> loop_;
  std::unique_ptr<Master> master_;
  std::uint16_t port_ = 0;
};

}  // namespace hyphos::gateway::ros1
