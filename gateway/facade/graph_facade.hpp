#pragma once

#include "gateway/facade/actions.hpp"
#include "gateway/facade/clients.hpp"
#include "gateway/facade/parameters.hpp"
#include "gateway/facade/services.hpp"
#include "gateway/facade/topics.hpp"
#include "gateway/facade/type_lookup.hpp"

namespace hyphos::gateway {

/// The facade of the robot's graph for the clients of a gateway: access to its parts, which live as
/// long as the facade.
///
/// Threads: all parts are thread-safe. Callbacks run on the thread pool of the process and must not
/// block. Errors of opening: not_found (no such type, with similar names), type_mismatch (the
/// channel carries another type), permission (the rules refuse this client).
class GraphFacade {
 public:
  virtual ~GraphFacade() = default;

  [[nodiscard]] virtual Topics& topics() const = 0;
  [[nodiscard]] virtual Services& services() const = 0;
  [[nodiscard]] virtual Actions& actions() const = 0;
  [[nodiscard]] virtual Parameters& parameters() const = 0;
  [[nodiscard]] virtual const TypeLookup& types() const = 0;
  [[nodiscard]] virtual Clients& clients() const = 0;
  /// True if the process of the gateway follows simulated time.
  [[nodiscard]] virtual bool has_simulated_time() const { return false; }
};

}  // namespace hyphos::gateway
