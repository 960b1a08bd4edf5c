#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/facade/type_lookup.hpp"

namespace hyphos::gateway {

/// The types of a FakeGraph, which the test adds. Thread-safe.
class FakeTypes final : public TypeLookup {
 public:
  void add_message(TypeInfo type) { messages_.add(std::move(type)); }
  void add_service(ServiceTypeInfo type) { services_.add(std::move(type)); }
  void add_action(ActionTypeInfo type) { actions_.add(std::move(type)); }

  [[nodiscard]] Result<TypeInfo> message(std::string_view name) const override {
    return messages_.find(name);
  }
  [[nodiscard]] Result<ServiceTypeInfo> service(std::string_view name) const override {
    return services_.find(name);
  }
  [[nodiscard]] Result<ActionTypeInfo> action(std::string_view name) const override {
    return actions_.find(name);
  }
  [[nodiscard]] std::vector<std::string> interfaces() const override {
    std::vector<std::string> names;
    messages_.list(names);
    services_.list(names);
    actions_.list(names);
    return names;
  }
  [[nodiscard]] int ros_version() const override { return 1; }

 private:
  template <typename Type>
  class ByName {
   public:
    void add(Type type) {
      const std::lock_guard lock(mutex_);
      std::string name = type.name;
      types_.insert_or_assign(std::move(name), std::move(type));
    }
    [[nodiscard]] Result<Type> find(std::string_view name) const {
      const std::lock_guard lock(mutex_);
      const auto found = types_.find(name);
      if (found != types_.end()) return found->second;
      const std::string text(name);
      return Error{Code::not_found, "unknown type '" + text + "'", text};
    }
    void list(std::vector<std::string>& names) const {
      const std::lock_guard lock(mutex_);
      for (const auto& [name, type] : types_) names.push_back(name);
    }

   private:
    mutable std::mutex mutex_;
    std::map<std::string, Type, std::less<>> types_;
  };

  ByName<TypeInfo> messages_;
  ByName<ServiceTypeInfo> services_;
  ByName<ActionTypeInfo> actions_;
};

}  // namespace hyphos::gateway
