#pragma once

#include <memory>

#include "cosim/core/method.hpp"

/// The factory functions that registry.cpp lists, one for each name.
namespace hyphos::cosim::make {

std::unique_ptr<Method> lockstep(const MethodOptions& options);
std::unique_ptr<Method> time_stepped(const MethodOptions& options);
std::unique_ptr<Method> time_stepped_scheduler(const MethodOptions& options);
std::unique_ptr<Method> variable_stepped(const MethodOptions& options);
std::unique_ptr<Method> variable_stepped_float(const MethodOptions& options);
std::unique_ptr<Method> global_event(const MethodOptions& options);
std::unique_ptr<Method> sliding_window(const MethodOptions& options);
std::unique_ptr<Method> velocity_aware_s(const MethodOptions& options);
std::unique_ptr<Method> velocity_aware_ms(const MethodOptions& options);
std::unique_ptr<Method> velocity_aware_s_updated(const MethodOptions& options);
std::unique_ptr<Method> velocity_aware_ms_updated(const MethodOptions& options);
std::unique_ptr<Method> adaptive(const MethodOptions& options);

}  // namespace hyphos::cosim::make
