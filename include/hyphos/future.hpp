#pragma once

#include <future>
#include <memory>
#include <string_view>
#include <utility>

#include "hyphos/service.hpp"
#include "hyphos/transforms.hpp"

/// Client::call_async() and Transforms::wait() that return a std::future. They have a header of
/// their own, because `<future>` takes longer to compile than a whole node. `hyphos/hyphos.hpp`
/// does not include it. Cost of a future: one heap allocation.
namespace hyphos::detail {

template <typename Rep>
struct CallNeedsFutureHpp {
  template <typename Req>
  static std::future<Result<Rep>> start(const Client<Req, Rep>& client, Req request,
                                        Duration timeout) {
    auto promise = std::make_shared<std::promise<Result<Rep>>>();
    auto future = promise->get_future();
    client.call_async(std::move(request), timeout,
                      [promise](Result<Rep> reply) { promise->set_value(std::move(reply)); });
    return future;
  }
};

template <>
struct WaitNeedsFutureHpp<Transform> {
  static std::future<Result<Transform>> start(const Transforms& transforms, std::string_view target,
                                              std::string_view source, Time time,
                                              Duration timeout) {
    auto promise = std::make_shared<std::promise<Result<Transform>>>();
    auto future = promise->get_future();
    transforms.wait_inline(target, source, time, timeout, [promise](Result<Transform> result) {
      promise->set_value(std::move(result));
    });
    return future;
  }
};

}  // namespace hyphos::detail
