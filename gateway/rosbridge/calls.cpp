#include "gateway/rosbridge/calls.hpp"

#include <algorithm>
#include <utility>

#include "gateway/rosbridge/arguments.hpp"
#include "gateway/rosbridge/json_text.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

// Timeout for servers that hang. A server that is gone ends a call at once. The original rosbridge
// waits forever.
constexpr double kTimeout = 60;
constexpr double kMaxTimeout = 3600;

struct Ends {
  std::string head;
  std::string tail;
};

Ends response_ends(const std::string& service, const std::string& id, bool result) {
  return {R"({"op":"service_response","service":)" + json_string(service) + R"(,"values":)",
          std::string(R"(,"result":)") + (result ? "true" : "false") + id_member(id) + "}"};
}

void fail_call(Context& context, const std::string& service, const std::string& id,
               const Shape& shape, const Error& error) {
  context.count("call", service + ": " + error.message);
  const Ends ends = response_ends(service, id, false);
  std::string text = error.message;
  if (!error.where.empty()) text += " (" + error.where + ")";
  context.send(ends.head + json_string(text) + ends.tail, shape);
}

void answer(Context& context, const std::string& service, const std::string& id, const Shape& shape,
            const Buffer& values, Form form) {
  if (values.size() > context.options.max_message) {
    return fail_call(context, service, id, shape,
                     {Code::exhausted, "the reply is larger than --max-message allows", service});
  }
  const Ends ends = response_ends(service, id, true);
  const Frame frame = frame_around(ends.head, "values", values, form, ends.tail);
  if (!shape.png && frame.size() <= shape.fragment_size) {
    (void)context.sink.send(kControlOutput, 0, {&frame, 1});
  } else {
    context.send(ends.head + std::string(values.text()) + ends.tail, shape);
  }
}

Duration timeout_of(const Request& request) {
  const double asked = request.timeout_s.value_or(0);
  return Duration::from_seconds(asked > 0 ? std::min(asked, kMaxTimeout) : kTimeout);
}

}  // namespace

Result<void> Calls::call(const Request& request) {
  if (auto given = required(request.service, "service"); !given) return given;
  const auto shape = shape_of(request);
  if (!shape) return shape.error();
  if (const auto started = start(request, *shape); !started) {
    fail_call(context_, request.service, request.id, *shape, started.error());
  }
  return success();
}

Result<void> Calls::start(const Request& request, const Shape& shape) {
  const std::string name = absolute(request.service);
  const std::size_t most = context_.options.limits.client_calls;
  if (pending_->load() >= most) {
    return Error{Code::overloaded,
                 at_limit("this client", most, "calls in flight", "--max-calls-per-client"), name};
  }
  if (const Rosapi::Entry* own = Rosapi::find(name)) {
    rosapi_.answer(
        *own, request.args,
        [respond = responder(request, shape, Form::json)](const Result<std::string>& values) {
          respond(values ? Result<Buffer>(Buffer::copy_of(*values)) : values.error());
        });
    return success();
  }
  const auto args = arguments_object(request.args, name, [&] { return request_type(name); });
  if (!args) return args.error();
  const Form form = context_.form_of(shape);
  context_.facade.services().call(context_.client, name, request.type, {Form::json, form},
                                  std::as_bytes(std::span(*args)), timeout_of(request),
                                  responder(request, shape, form));
  return success();
}

// One more call is in flight until the returned function is called.
std::function<void(Result<Buffer>)> Calls::responder(const Request& request, const Shape& shape,
                                                     Form form) {
  pending_->fetch_add(1);
  return [gate = gate_, pending = pending_, service = request.service, id = request.id, shape,
          form](const Result<Buffer>& result) {
    pending->fetch_sub(1);
    gate->pass([&](Context& context) {
      if (result) {
        answer(context, service, id, shape, *result, form);
      } else {
        fail_call(context, service, id, shape, result.error());
      }
    });
  };
}

Result<TypeInfo> Calls::request_type(const std::string& service) const {
  const auto type = rosapi_.service_type(service);
  if (type.empty()) return Error{Code::not_found, "the graph has no service " + service, ""};
  const auto info = context_.facade.types().service(type);
  if (!info) return info.error();
  return context_.facade.types().message(info->request);
}

}  // namespace hyphos::gateway::rosbridge
