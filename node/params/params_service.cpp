// The service through which other nodes set a node's parameters, and its client. The owner opens
// the service with its first parameter.
#include "node/params/params_service.hpp"

#include "base/log.hpp"
#include "hyphos/service.hpp"
#include "node/params/remote_params_impl.hpp"
#include "node/runtime/runtime_impl.hpp"

namespace hyphos {
namespace {

using Request = params::v1::SetParams;
using Reply = params::v1::SetParamsReply;

Code parse_code(const std::string& word) {
  for (const Code code : {Code::invalid_config, Code::not_found, Code::type_mismatch,
                          Code::permission, Code::overloaded, Code::exhausted, Code::disconnected,
                          Code::corrupt, Code::already_exists}) {
    if (word == to_string(code)) return code;
  }
  return Code::unsupported;  // from a version with more codes
}

}  // namespace

Result<void> params::serve(const std::shared_ptr<Node::Impl>& node) {
  if (!node) return success();  // already closed
  try {
    // One at a time: the user's checks process requests sequentially.
    (void)Node(node).service<Request, Reply>(
        service_of(node->name()), [params = std::weak_ptr(node->params())](const Request& request) {
          const auto owner = params.lock();
          if (owner) return Result<Reply>(owner->answer(request));
          return Result<Reply>(Error{Code::disconnected, "the node has been closed", ""});
        });
  } catch (const Exception& error) {
    return error.error();
  }
  return success();
}

Result<RemoteParams::Impl::Ask> RemoteParams::Impl::ask() {
  const MutexLock lock(ask_mutex_);
  if (ask_) return ask_;
  const auto via = via_.lock();
  if (!via) return Error{Code::disconnected, "the requesting node has been closed", node_};
  try {
    ask_ = [client = Node(via).client<Request, Reply>(params::service_of(node_))](
               Request request, Duration timeout) {
      return client.call(std::move(request), timeout);
    };
  } catch (const Exception& error) {
    return error.error();
  }
  return ask_;
}

Result<void> RemoteParams::Impl::set(const std::vector<ParamAssignment>& values, Duration timeout) {
  Request request;
  for (const ParamAssignment& one : values) {
    params::v1::Assignment& out = *request.add_values();
    out.set_name(one.name);
    params::encode(one.value, *out.mutable_value());
  }
  auto way = ask();
  if (!way) return way.error();
  auto reply = (*way)(std::move(request), timeout);
  if (!reply) {
    if (reply.error().code != Code::not_found) return reply.error();
    return Error{Code::not_found,
                 "no reply about the parameters of node '" + node_ + "'" + others(), node_};
  }
  take(reply->now());
  if (!reply->code().empty()) return Error{parse_code(reply->code()), reply->message(), node_};
  if (!reply->warning().empty()) log::warn("params", node_ + ": " + reply->warning());
  return success();
}

}  // namespace hyphos
