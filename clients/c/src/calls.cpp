#include <memory>

#include "handles.hpp"

using namespace hyphos;
using namespace hyphos::c;

namespace {

Result<detail::CallTypes> read_types(const hyphos_type* request, const hyphos_type* reply) {
  const auto question = read_type(request);
  if (!question) return question.error();
  const auto answer = read_type(reply);
  if (!answer) return answer.error();
  TypeSupport first = raw_support(question.value());
  TypeSupport second = raw_support(answer.value());
  first.size = static_cast<std::size_t>(request->bytes);
  second.size = static_cast<std::size_t>(reply->bytes);
  return detail::service_types(first, second);
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

  void operator()(const detail::ExchangeRef& exchange) const {
    const auto message = view(exchange->request());
    if (!message) return (void)exchange->fail(message.error());
    callback(user, new hyphos_request{node, exchange}, &message.value());
  }
};

/// The receiver of the outcome of an asynchronous call. The thread that delivers the outcome only
/// posts it to the pump.
class Listener final : public detail::CallListener {
 public:
  Listener(std::shared_ptr<Pump> pump, std::shared_ptr<detail::CallClient> client,
           hyphos_reply_callback callback, void* user)
      : pump_(std::move(pump)), client_(std::move(client)), callback_(callback), user_(user) {}
  void heard(detail::CallKind kind, const detail::Delivery& message) override {
    if (detail::is_final(kind)) finish(message);
  }
  void failed(const Error& error) override { finish(error); }

 private:
  void finish(Result<detail::Delivery> end) {
    pump_->post(
        [client = std::move(client_), callback = callback_, user = user_, end = std::move(end)] {
          const auto message = end ? view(end.value()) : Result<hyphos_message>(end.error());
          if (message) return callback(user, &message.value(), nullptr);
          hyphos_error error;
          (void)report(&error, message.error());
          callback(user, nullptr, &error);
        },
        Pump::Fate::certain);
  }

  const std::shared_ptr<Pump> pump_;
  std::shared_ptr<detail::CallClient> client_;
  const hyphos_reply_callback callback_;
  void* const user_;
};

Duration timeout_of(std::int64_t timeout_ns) {
  return timeout_ns > 0 ? Duration{timeout_ns} : kCallTimeout;
}

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
    detail::ServerCallback answer = handler;
    if (options == nullptr || options->mode == HYPHOS_POLLED) {
      answer = [handler, pump = node->state->pump](const detail::ExchangeRef& exchange) {
        pump->post([handler, exchange] { handler(exchange); }, Pump::Fate::droppable);
      };
    }
    auto core = node->state->node.open_server(name, types.value(), how.value(), std::move(answer));
    if (!core) return core.error();
    *service = new hyphos_service{node->state, std::move(*core)};
    return success();
  });
}

void hyphos_service_close(hyphos_service* service) {
  if (service == nullptr) return;
  quietly([&] {
    const std::unique_ptr<hyphos_service> ended(service);
    if (const auto node = alive(ended->node); node) ended->core->close();
  });
}

hyphos_code hyphos_reply(hyphos_request* request, const void* payload, size_t size,
                         const hyphos_bytes* buffers, size_t buffer_count, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    const std::unique_ptr<hyphos_request> ended(request);
    if (request == nullptr) return is_null("request");
    const auto node = alive(request->node);
    if (!node) return node.error();
    detail::Exchange& exchange = *request->exchange;
    auto block =
        make_block(exchange.sender(), exchange.travels(), payload, size, buffers, buffer_count);
    if (!block) return block.error();
    return exchange.send(detail::CallKind::reply, std::move(*block));
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
    return request->exchange->fail({why, text_or(message, ""), ""});
  });
}

void hyphos_request_drop(hyphos_request* request) {
  if (request == nullptr) return;
  quietly([&] {
    const std::unique_ptr<hyphos_request> ended(request);
    const auto node = alive(ended->node);
    ended->exchange.reset();
  });
}

int32_t hyphos_request_canceled(const hyphos_request* request) {
  return request != nullptr && request->exchange->canceled() ? 1 : 0;
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
    auto core = node->state->node.open_client(name, types.value(), how);
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
    ended->core.reset();
  });
}

hyphos_code hyphos_client_wait(hyphos_client* client, int64_t timeout_ns, hyphos_error* error) {
  return guard(error, [&]() -> Result<void> {
    if (client == nullptr) return is_null("client");
    const auto node = alive(client->node);
    if (!node) return node.error();
    return client->core->wait_for_server(timeout_of(timeout_ns));
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
    detail::CallClient& core = *client->core;
    auto block = make_block(core.sender(), core.travels(), payload, size, buffers, buffer_count);
    if (!block) return block.error();
    const auto end = detail::CallWaiter::run(core, std::move(*block), timeout_of(timeout_ns));
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
    detail::CallClient& core = *client->core;
    auto block = make_block(core.sender(), core.travels(), payload, size, buffers, buffer_count);
    if (!block) return block.error();
    (void)core.start(std::move(*block), (monotonic_now() + timeout_of(timeout_ns)).ns,
                     std::make_shared<Listener>(node.value()->pump, client->core, callback, user));
    return success();
  });
}

}  // extern "C"
