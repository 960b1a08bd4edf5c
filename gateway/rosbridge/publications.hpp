#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "gateway/rosbridge/context.hpp"

namespace hyphos::gateway::rosbridge {

/// What one client publishes: advertise, unadvertise, publish. One thread at a time.
class Publications {
 public:
  static constexpr std::size_t kMax = 256;

  explicit Publications(Context& context) : context_(context) {}

  Result<void> advertise(const Request& request);
  Result<void> unadvertise(const Request& request);
  Result<void> publish(const Request& request);

 private:
  struct Topic {
    std::set<std::string> ids;
    std::string type;
    bool latched = false;
    std::unique_ptr<Inlet> inlet;
  };
  Result<Topic*> open(const Request& request, const std::string& topic, const std::string& type);

  Context& context_;
  std::map<std::string, Topic> topics_;
};

}  // namespace hyphos::gateway::rosbridge
