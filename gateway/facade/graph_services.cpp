#include "gateway/facade/graph_services.hpp"

#include <utility>

#include "gateway/facade/call_bytes.hpp"
#include "gateway/facade/channel_names.hpp"

namespace hyphos::gateway {

namespace {

detail::CallTypes types_of(const ServiceCodec& codec) {
  return detail::service_types(raw_support(codec.request_id), raw_support(codec.reply_id));
}

class GraphServer final : public Server {
 public:
  GraphServer(std::shared_ptr<detail::CallServer> core, ServiceTypeInfo type,
              std::shared_ptr<void> place)
      : place_(std::move(place)), core_(std::move(core)), type_(std::move(type)) {}
  ~GraphServer() override { core_->close(); }
  GraphServer(const GraphServer&) = delete;
  GraphServer& operator=(const GraphServer&) = delete;
  [[nodiscard]] const ServiceTypeInfo& type() const override { return type_; }

 private:
  const std::shared_ptr<void> place_;
  const std::shared_ptr<detail::CallServer> core_;
  const ServiceTypeInfo type_;
};

/// The reply to one call of a client. The conversion runs on the thread pool.
class CallEnd final : public detail::CallListener {
 public:
  CallEnd(CallClientPool::Use call_client, const Converter& reply, Form form, Answer answer)
      : call_client_(std::move(call_client)),
        reply_(reply),
        form_(form),
        answer_(std::move(answer)) {}
  void heard(detail::CallKind kind, const detail::Delivery& message) override {
    if (detail::is_final(kind)) finish(message);
  }
  void failed(const Error& error) override { finish(error); }

 private:
  void finish(Result<detail::Delivery> end) {
    auto call_client = std::exchange(call_client_, {});
    detail::CallClient* const pool = call_client.core.get();
    pool->post([call_client = std::move(call_client), &reply = reply_, form = form_,
                answer = std::move(answer_), end = std::move(end)] {
      answer(end ? message_of(*end, reply, form) : Result<Buffer>(end.error()));
    });
  }

  CallClientPool::Use call_client_;
  const Converter& reply_;
  const Form form_;
  Answer answer_;
};

}  // namespace

GraphServices::GraphServices(Node node, std::shared_ptr<Types> types, GraphClients& clients,
                             GraphCalls& calls)
    : node_(std::move(node)), types_(std::move(types)), clients_(clients), calls_(calls) {}

Result<std::unique_ptr<Server>> GraphServices::open_server(
    const Client& client, const std::string& service, const std::string& type, Form form,
    std::function<void(const Buffer& request, Answer answer)> callback) {
  const std::string name = channel_of(service);
  if (!clients_.lets(client, Use::serve, service)) return denied(client, "serve", service);
  auto info = types_->service(type);
  if (!info) return info.error();
  auto codec = types_->service_codec(type, GraphSnapshot::of(node_).call_type(kServices, name));
  if (!codec) return codec.error();
  auto place = clients_.reserve(client, {"ask " + name, "answer " + name});
  if (!place) return place.error();
  ServiceOptions options;
  options.mode = Mode::concurrent;
  options.depth = calls_.server_depth();
  options.max_pending = options.depth;
  const auto serve = [codec = *codec, form, callback = std::move(callback),
                      clock = node_.clock()](const detail::ExchangeRef& exchange) {
    auto request = message_of(exchange->request(), *codec.request, form);
    if (!request) {
      (void)exchange->fail(request.error());
      return;
    }
    callback(*request, [exchange, codec, form, clock](const Result<Buffer>& reply) {
      if (!reply) {
        (void)exchange->fail(reply.error());
        return;
      }
      auto block = block_of(exchange->sender(), exchange->travels(), *codec.reply, form,
                            reply->bytes(), clock.now().ns);
      (void)(block ? exchange->send(detail::CallKind::reply, *block)
                   : exchange->fail(block.error()));
    });
  };
  auto opened = node_.open_server(name, types_of(*codec), options, serve);
  if (!opened) return opened.error();
  return std::unique_ptr<Server>(std::make_unique<GraphServer>(*opened, *info, std::move(*place)));
}

void GraphServices::call(const Client& client, const std::string& service, const std::string& type,
                         Form form, std::span<const std::byte> request, Duration timeout,
                         Answer answer) {
  const std::string name = channel_of(service);
  if (!clients_.lets(client, Use::call, service)) return answer(denied(client, "call", service));
  const GraphSnapshot graph = GraphSnapshot::of(node_);
  const std::string call_type = graph.call_type(kServices, name);
  const std::string type_name = type.empty() ? types_->ros_service_name(call_type) : type;
  if (type_name.empty()) {
    return answer(Error{Code::not_found,
                        call_type.empty() ? "the graph has no service '" + service + "'"
                                          : "no known ROS type has the messages " + call_type,
                        service});
  }
  auto codec = types_->service_codec(type_name, call_type);
  if (!codec) return answer(codec.error());
  auto asked = calls_.use(client, kServices, name, codec->request_id, types_of(*codec), graph);
  if (!asked) return answer(asked.error());
  const std::shared_ptr<detail::CallClient> core = asked->core;
  auto block = block_of(core->sender(), core->travels(), *codec->request, form, request,
                        node_.clock().now().ns);
  if (!block) return answer(block.error());
  auto end = std::make_shared<CallEnd>(std::move(*asked), *codec->reply, form, std::move(answer));
  core->start(*block, (monotonic_now() + timeout).ns, std::move(end));
}

std::vector<ServiceInfo> GraphServices::list() const {
  std::vector<ServiceInfo> found = GraphSnapshot::of(node_).services(kServices);
  for (ServiceInfo& one : found) one.type = types_->ros_service_name(one.carries);
  return found;
}

Result<Buffer> GraphServices::blank_reply(std::string_view type, Form form) const {
  const auto codec = types_->service_codec(type, "");
  if (!codec) return codec.error();
  // A protobuf message of zero bytes has the default value in each field.
  const auto written = codec->reply->write(form, RawMessage());
  if (!written) return written.error();
  return written->joined();
}

}  // namespace hyphos::gateway
