#include "gateway/facade/graph_services.hpp"

#include <utility>

#include "gateway/facade/announce.hpp"
#include "gateway/facade/call_bytes.hpp"
#include "gateway/facade/channel_names.hpp"

namespace hyphos::gateway {

namespace {

CallType call_type_of(const ServiceCodec& codec) {
  return service_type(codec.request_id, codec.reply_id);
}

class GraphServer final : public Server {
 public:
  GraphServer(Service core, ServiceTypeInfo type, std::shared_ptr<void> place)
      : place_(std::move(place)), core_(std::move(core)), type_(std::move(type)) {}
  ~GraphServer() override { core_.close(); }
  GraphServer(const GraphServer&) = delete;
  GraphServer& operator=(const GraphServer&) = delete;
  [[nodiscard]] const ServiceTypeInfo& type() const override { return type_; }

 private:
  const std::shared_ptr<void> place_;
  const Service core_;
  const ServiceTypeInfo type_;
};

}  // namespace

GraphServices::GraphServices(Node node, std::shared_ptr<Types> types, const GraphView& view,
                             GraphClients& clients, GraphCalls& calls)
    : node_(std::move(node)),
      types_(std::move(types)),
      view_(view),
      clients_(clients),
      calls_(calls) {}

Result<std::unique_ptr<Server>> GraphServices::open_server(
    const Client& client, const std::string& service, const std::string& type, Forms forms,
    std::function<void(const Buffer& request, Answer answer)> callback) {
  const std::string name = channel_of(service);
  if (!clients_.lets(client, Use::serve, service)) return denied(client, "serve", service);
  auto info = types_->service(type);
  if (!info) return info.error();
  auto codec = types_->service_codec(type, view_.call(kServices, name).type);
  if (!codec) return codec.error();
  auto place = clients_.reserve(client, {"ask " + name, "answer " + name});
  if (!place) return place.error();
  ServiceOptions options;
  options.mode = Mode::concurrent;
  options.depth = calls_.server_depth();
  options.max_pending = options.depth;
  const auto serve = [codec = *codec, forms, callback = std::move(callback),
                      clock = node_.clock()](const RawRequest& received) {
    auto request = message_of(received.message(), *codec.request, forms.out);
    if (!request) {
      (void)received.refuse(request.error());
      return;
    }
    callback(*request, [received, codec, forms, clock](const Result<Buffer>& reply) {
      if (!reply) {
        (void)received.refuse(reply.error());
        return;
      }
      auto made =
          raw_message_of(received.memory(), *codec.reply, forms.in, reply->bytes(), clock.now().ns);
      (void)(made ? received.reply(std::move(*made)) : received.refuse(made.error()));
    });
  };
  announce(node_, *types_, {&codec->request_id, &codec->reply_id});
  auto opened = node_.raw_service(name, call_type_of(*codec), options, serve);
  if (!opened) return opened.error();
  return std::unique_ptr<Server>(std::make_unique<GraphServer>(*opened, *info, std::move(*place)));
}

void GraphServices::call(const Client& client, const std::string& service, const std::string& type,
                         Forms forms, std::span<const std::byte> request, Duration timeout,
                         Answer answer) {
  const std::string name = channel_of(service);
  if (!clients_.lets(client, Use::call, service)) return answer(denied(client, "call", service));
  const GraphView::CallInfo known = view_.call(kServices, name);
  const std::string& call_type = known.type;
  const std::string type_name = type.empty() ? types_->ros_service_name(call_type) : type;
  if (type_name.empty()) {
    return answer(Error{Code::not_found,
                        call_type.empty() ? "the graph has no service '" + service + "'"
                                          : "no known ROS type has the messages " + call_type,
                        service});
  }
  auto codec = types_->service_codec(type_name, call_type);
  if (!codec) return answer(codec.error());
  auto asked =
      calls_.use(client, kServices, name, codec->request_id, call_type_of(*codec), known.served);
  if (!asked) return answer(asked.error());
  const RawClient core = asked->core;
  auto made =
      raw_message_of(core.memory(), *codec->request, forms.in, request, node_.clock().now().ns);
  if (!made) return answer(made.error());
  // The conversion of the reply runs on the thread pool.
  core.call_async(
      std::move(*made), timeout,
      [gate = calls_.gate(), until = std::move(asked->until), &converter = *codec->reply,
       form = forms.out, answer = std::move(answer)](const Result<MessageRef>& reply) {
        const CallGate::Entry entry(*gate);
        if (!entry) return;
        answer(reply ? message_of(*reply, converter, form) : Result<Buffer>(reply.error()));
      });
}

std::optional<ServiceInfo> GraphServices::find(const std::string& service) const {
  const GraphView::CallInfo known = view_.call(kServices, channel_of(service));
  if (!known.served) return std::nullopt;
  return ServiceInfo{service, types_->ros_service_name(known.type), topic_of(known.node),
                     known.type};
}

std::vector<ServiceInfo> GraphServices::list() const {
  std::vector<ServiceInfo> found = view_.services(kServices);
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
