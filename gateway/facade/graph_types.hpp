#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/facade/type_lookup.hpp"
#include "gateway/types/types.hpp"

namespace hyphos::gateway {

class GraphTypes final : public TypeLookup {
 public:
  explicit GraphTypes(std::shared_ptr<const Types> types) : types_(std::move(types)) {}

  [[nodiscard]] Result<TypeInfo> message(std::string_view name) const override {
    return types_->message(name);
  }
  [[nodiscard]] Result<ServiceTypeInfo> service(std::string_view name) const override {
    return types_->service(name);
  }
  [[nodiscard]] Result<ActionTypeInfo> action(std::string_view name) const override {
    return types_->action(name);
  }
  [[nodiscard]] std::vector<std::string> interfaces() const override {
    return types_->interfaces();
  }
  [[nodiscard]] int ros_version() const override { return types_->only_ros2() ? 2 : 1; }

 private:
  const std::shared_ptr<const Types> types_;
};

}  // namespace hyphos::gateway
