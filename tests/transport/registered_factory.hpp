#pragma once

#include <unistd.h>

#include <atomic>
#include <string>

#include "plan/transports.hpp"
#include "tests/transport/conformance.hpp"
#include "tests/transport/temporary_folder.hpp"
#include "transport/registry.hpp"

namespace hyphos::transport::testing {

/// Makes a transport as a running process does: by name, from the registry. The processes connect
/// in a separate domain. If the transport needs endpoints, they are in a separate folder.
class RegisteredFactory final : public Factory {
 public:
  explicit RegisteredFactory(std::string name) : name_(std::move(name)) {}

  std::shared_ptr<Transport> publisher() override {
    TransportContext context = context_of("publisher");
    if (plan::transport(name_)->endpoints) context.bind.push_back({endpoint(), std::nullopt});
    auto made = make_transport(name_, context).or_throw().transport;
    made->start().or_throw();
    return made;
  }
  std::shared_ptr<Transport> subscriber(const std::string& process) override {
    auto made = unstarted_subscriber(process);
    made->start().or_throw();
    return made;
  }
  std::shared_ptr<Transport> unstarted_subscriber(const std::string& process) {
    TransportContext context = context_of(process);
    if (plan::transport(name_)->endpoints) {
      context.connect.push_back({endpoint(), std::nullopt, std::nullopt});
    }
    return make_transport(name_, context).or_throw().transport;
  }

 private:
  static std::string fresh_domain() {
    static std::atomic<int> next{0};
    return "conf" + std::to_string(getpid()) + "-" + std::to_string(next++);
  }
  [[nodiscard]] std::string endpoint() const {
    return "ipc://" + (folder_.path() / "publisher").string();
  }
  [[nodiscard]] TransportContext context_of(const std::string& process) const {
    TransportContext context;
    context.process_name = process;
    context.domain = domain_;
    return context;
  }

  const std::string name_;
  const std::string domain_ = fresh_domain();
  TemporaryFolder folder_;
};

}  // namespace hyphos::transport::testing
