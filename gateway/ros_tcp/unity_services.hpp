#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.hpp"
#include "gateway/facade/services.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros_tcp {

/// The services that clients serve. If two clients register the same service, the later one gets
/// it: most often it is the same program after a reconnect, before its old connection is known to
/// be dead. Thread-safe.
class UnityServices {
 public:
  using Open = std::function<Result<std::unique_ptr<Server>>()>;

  /// Opens `name` for `owner`, unless it already has it with this type. `displaced` is called if
  /// another owner loses it. Errors: the errors of `open`. The previous owner then keeps the
  /// service. `open` is stored with the entry, and may be called once more for that.
  Result<void> take(const void* owner, const std::string& name, const std::string& type,
                    std::function<void()> displaced, Open open);
  /// Returns false if the owner did not have it.
  bool drop(const void* owner, const std::string& name);
  void drop_all(const void* owner);
  [[nodiscard]] std::size_t count(const void* owner) const;

 private:
  struct Entry {
    const void* owner = nullptr;
    std::string type;
    std::function<void()> displaced;
    Open open;
    std::unique_ptr<Server> server;
  };

  mutable Mutex mutex_;
  std::map<std::string, Entry> entries_ HYPHOS_GUARDED_BY(mutex_);
};

}  // namespace hyphos::gateway::ros_tcp
