#include <memory>

#include "handles.hpp"

using namespace hyphos;
using namespace hyphos::c;

namespace {

Result<CallType> read_types(const hyphos_type* request, const hyphos_type* reply) {
  const auto question = read_type(request);
  if (!question) return question.error();
  const auto answer = read_type(reply);
  if (!answer) return answer.error();
  return service_type(question.value(), answer.value());
}

Result<ServiceOptions> read_options(const hyphos_service_options* options) {
  const auto given = read_struct(options, "hyphos_service_options");
  if (!given) return given.error();
  const hyphos_service_options& from = given.value();
  const auto mode = read_mode(from.mode);
  if (!mode) return mode.error();
  ServiceOptions how;
  // With HYPHOS_POLLED, the delivering thread puts the request into the pump of the node.
  how.mode = from.mode == HYPHOS_POLLED ? Mode::inline_ : mode.value();
  how.scope = from.local != 0 ? Scope::local : Scope::network;
  if (from.depth > 0) how.depth = from.depth;
  if (from.max_pending > 0) how.max_pending = from.max_pending;
  return how;
}

struct Handler {
  WeakNode node;
  hyphos_request_callback callback;
  void* user;

  void operator()(const RawRequest& request) const {
    const auto message = view(request.message());
    if (!message) return (void)request.refuse(message.error());
    callback(user, new hyphos_request{node, request}, &message.value());
  }
};

/// The receiver of the outcome of an asynchronous call. The thread that delivers the outcome only
/// posts it to the pump.
struct Listener {
  std::shared_ptr<Pump> pump;
  RawClient client;
  hyphos_reply_callback callback;
  void* user;

  void operator()(Result<MessageRef> end) {
    pump->post(
        [client = std::move(client), callback = callback, user = user, end = std::move(end)] {
          const auto message = end ? view(end.value()) : Result<hyphos_message>(end.error());
          if (message) return callback(user, &message.value(), nullptr);
          hyphos_error error;
          (void)report(&error, message.error());
          callback(user, nullptr, &error);
        },
        Pump::Fate::certain);
  }
};

}  // namespace

extern "C" {

hyphos_code hyphos_serve(hyphos_node* node, const char* name, const hyphos_type* request,
                         const hyphos_type* reply, const hyphos_service_options* options,
                         hyphos_request_callback callback, void* user, hyphos_service** service,
                         hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (name == nullptr) return is_null("name");
    if (callback == nullptr) return is_null("callback");
    if (service == nullptr) return is_null("service");
    const auto types = read_types(request, reply);
    if (!types) return types.error();
    const auto how = read_options(options);
    if (!how) return how.error();
    const Handler handler{node->state, callback, user};
    std::function<void(const RawRequest&)> answer = handler;
    if (options == nullptr || options->mode == HYPHOS_POLLED) {
      answer = [handler, pump = node->state->pump](const RawRequest& received) {
        pump->post([handler, received] { handler(received); }, Pump::Fate::droppable);
      };
    }
    auto core = node->state->node.raw_service(name, types.value(), how.value(), std::move(answer));
    if (!core) return core.error();
    *service = new hyphos_service{node->state, std::move(*core)};
    return success();
  });
}

void hyphos_service_close(hyphos_service* service) {
  if (service == nullptr) return;
  quietly([&] {
    const std::unique_ptr<hyphos_service> ended(service);
    if (const auto node = alive(ended->node); node) ended->core.close();
  });
}

hyphos_code hyphos_reply(hyphos_request* request, const void* payload, size_t size,
                         const hyphos_bytes* buffers, size_t buffer_count, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    const std::unique_ptr<hyphos_request> ended(request);
    if (request == nullptr) return is_null("request");
    const auto node = alive(request->node);
    if (!node) return node.error();
    auto parts = copy_parts(payload, size, buffers, buffer_count, request->core.memory());
    if (!parts) return parts.error();
    return request->core.reply(std::move(*parts));
  });
}

hyphos_code hyphos_refuse(hyphos_request* request, hyphos_code code, const char* message,
                          hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    const std::unique_ptr<hyphos_request> ended(request);
    if (request == nullptr) return is_null("request");
    Code why{};
    if (!from_c(code, why)) {
      return Error{
          Code::invalid_config,
          "code " + std::to_string(code) +
              " is not an error code. Pass one of HYPHOS_INVALID_CONFIG to HYPHOS_TOO_LARGE",
          ""};
    }
    const auto node = alive(request->node);
    if (!node) return node.error();
    return request->core.refuse({why, text_or(message, ""), ""});
  });
}

void hyphos_request_drop(hyphos_request* request) {
  if (request == nullptr) return;
  quietly([&] {
    const std::unique_ptr<hyphos_request> ended(request);
    const auto node = alive(ended->node);
    ended->core = {};
  });
}

int32_t hyphos_request_canceled(const hyphos_request* request) {
  return request != nullptr && request->core.canceled() ? 1 : 0;
}

hyphos_code hyphos_client_open(hyphos_node* node, const char* name, const hyphos_type* request,
                               const hyphos_type* reply, const hyphos_client_options* options,
                               hyphos_client** client, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (node == nullptr) return is_null("node");
    if (name == nullptr) return is_null("name");
    if (client == nullptr) return is_null("client");
    const auto types = read_types(request, reply);
    if (!types) return types.error();
    const auto given = read_struct(options, "hyphos_client_options");
    if (!given) return given.error();
    ClientOptions how;
    how.scope = given.value().local != 0 ? Scope::local : Scope::network;
    if (given.value().max_pending > 0) how.max_pending = given.value().max_pending;
    auto core = node->state->node.raw_client(name, types.value(), how);
    if (!core) return core.error();
    *client = new hyphos_client{node->state, std::move(*core)};
    return success();
  });
}

void hyphos_client_close(hyphos_client* client) {
  if (client == nullptr) return;
  quietly([&] {
    const std::unique_ptr<hyphos_client> ended(client);
    const auto node = alive(ended->node);
    ended->core = {};
  });
}

hyphos_code hyphos_client_wait(hyphos_client* client, int64_t timeout_ns, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (client == nullptr) return is_null("client");
    const auto node = alive(client->node);
    if (!node) return node.error();
    return client->core.wait_for_server(timeout_of(timeout_ns));
  });
}

hyphos_code hyphos_call(hyphos_client* client, const void* payload, size_t size,
                        const hyphos_bytes* buffers, size_t buffer_count, int64_t timeout_ns,
                        hyphos_message* reply, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (client == nullptr) return is_null("client");
    if (reply == nullptr) return is_null("reply");
    const auto node = alive(client->node);
    if (!node) return node.error();
    const RawClient& core = client->core;
    auto parts = copy_parts(payload, size, buffers, buffer_count, core.memory());
    if (!parts) return parts.error();
    const auto end = core.call(std::move(*parts), timeout_of(timeout_ns));
    if (!end) return end.error();
    const auto message = view(end.value());
    if (!message) return message.error();
    hold(message.value(), *reply);
    return success();
  });
}

hyphos_code hyphos_call_async(hyphos_client* client, const void* payload, size_t size,
                              const hyphos_bytes* buffers, size_t buffer_count, int64_t timeout_ns,
                              hyphos_reply_callback callback, void* user, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (client == nullptr) return is_null("client");
    if (callback == nullptr) return is_null("callback");
    const auto node = alive(client->node);
    if (!node) return node.error();
    const RawClient& core = client->core;
    auto parts = copy_parts(payload, size, buffers, buffer_count, core.memory());
    if (!parts) return parts.error();
    (void)core.call_inline(std::move(*parts), timeout_of(timeout_ns),
                           Listener{node.value()->pump, core, callback, user});
    return success();
  });
}

}  // extern "C"
