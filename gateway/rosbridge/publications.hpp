#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "gateway/rosbridge/context.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::rosbridge {

/// The topics that one client publishes: advertise, unadvertise, publish. For use by one thread at
/// a time.
class Publications {
 public:
  explicit Publications(Context& context) : context_(context) {}

  Result<void> advertise(const Request& request);
  Result<void> unadvertise(const Request& request);
  Result<void> publish(const Request& request);
  /// Returns false while the last published message waits for room. Process no further request
  /// until then.
  [[nodiscard]] bool ready();
  /// Memory for the attached bytes of the next message, judged by the previous one. The next
  /// message is usually for the same topic, and the memory also works for another topic. Empty: use
  /// ordinary memory.
  [[nodiscard]] WritableBuffer loan(std::size_t size);

 private:
  struct Topic {
    std::set<std::string> ids;
    std::string type;
    bool latched = false;
    std::unique_ptr<ClientPublisher> publisher;
    std::uint64_t overruns = 0;  ///< overruns already reported to the client
    Time next_warning;
  };
  /// Warns the client, at most once per second, of messages that a slow subscriber has lost.
  void warn_of_overruns(const std::string& topic, Topic& of) const;
  Result<Topic*> open(const Request& request, const std::string& topic, const std::string& type);

  Context& context_;
  std::map<std::string, Topic> topics_;
  Topic* last_ = nullptr;           ///< topic of the last publish
  std::optional<Request> waiting_;  // a publish() that waits, for later errors
};

}  // namespace hyphos::gateway::rosbridge
