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

/// What one client publishes: advertise, unadvertise, publish. One thread at a time.
class Publications {
 public:
  static constexpr std::size_t kMax = 256;

  explicit Publications(Context& context) : context_(context) {}

  Result<void> advertise(const Request& request);
  Result<void> unadvertise(const Request& request);
  Result<void> publish(const Request& request);
  /// False while the message that was published last waits for room: nothing more is to be asked.
  [[nodiscard]] bool ready();
  /// Memory for what a message will attach, as far as the one before it tells; mostly the next one
  /// is for the same topic, and for another one the memory is as good. Empty: for nothing.
  [[nodiscard]] WritableBuffer loan(std::size_t size);

 private:
  struct Topic {
    std::set<std::string> ids;
    std::string type;
    bool latched = false;
    std::unique_ptr<ClientPublisher> publisher;
    std::uint64_t overruns = 0;  ///< of the inlet, of which the client knows
    Time next_warning;
  };
  /// Warns the client, at most once a second, of messages that a slow subscriber has lost.
  void warn_of_overruns(const std::string& topic, Topic& of) const;
  Result<Topic*> open(const Request& request, const std::string& topic, const std::string& type);

  Context& context_;
  std::map<std::string, Topic> topics_;
  Topic* last_ = nullptr;           ///< that was published on
  std::optional<Request> waiting_;  // what there is to say of a publish() that waits
};

}  // namespace hyphos::gateway::rosbridge
