#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/door.hpp"

namespace hyphos::gateway::rosbridge {

/// The services below /rosapi, by which tools find topics, services, types and nodes. They are
/// answered here, from what the door shows.
class Rosapi {
 public:
  explicit Rosapi(const Door& door) : door_(door) {}

  /// The answer as JSON; nothing if `service` is none of these. `args`: JSON, or empty. Errors:
  /// not_found (a type), unsupported (parameters: a channel of Hyphos has no names for them).
  [[nodiscard]] std::optional<Result<std::string>> answer(std::string_view service,
                                                          std::string_view args) const;
  /// Empty if there is no such service.
  [[nodiscard]] std::string service_type(std::string_view service) const;

 private:
  using Answer = Result<std::string> (Rosapi::*)(std::string_view args) const;
  struct Entry {
    std::string_view name;
    std::string_view type;
    Answer answer;
  };
  static const Entry kEntries[];

  Result<std::string> topics(std::string_view args) const;
  Result<std::string> topics_and_raw_types(std::string_view args) const;
  Result<std::string> topics_for_type(std::string_view args) const;
  Result<std::string> topic_type(std::string_view args) const;
  Result<std::string> publishers(std::string_view args) const;
  Result<std::string> subscribers(std::string_view args) const;
  Result<std::string> services(std::string_view args) const;
  Result<std::string> services_for_type(std::string_view args) const;
  Result<std::string> service_type_of(std::string_view args) const;
  Result<std::string> service_node(std::string_view args) const;
  Result<std::string> service_providers(std::string_view args) const;
  Result<std::string> nodes(std::string_view args) const;
  Result<std::string> node_details(std::string_view args) const;
  Result<std::string> message_details(std::string_view args) const;
  Result<std::string> request_details(std::string_view args) const;
  Result<std::string> response_details(std::string_view args) const;
  Result<std::string> param_names(std::string_view args) const;
  Result<std::string> has_param(std::string_view args) const;
  Result<std::string> get_param(std::string_view args) const;
  Result<std::string> change_param(std::string_view args) const;
  Result<std::string> action_servers(std::string_view args) const;
  Result<std::string> time(std::string_view args) const;

  [[nodiscard]] Result<std::string> typedefs(const std::string& type) const;

  const Door& door_;
};

}  // namespace hyphos::gateway::rosbridge
