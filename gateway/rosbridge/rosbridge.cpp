#include "gateway/rosbridge/rosbridge.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "gateway/facade/settings.hpp"
#include "gateway/net/handshake.hpp"
#include "gateway/net/listener.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/net/stream.hpp"
#include "gateway/net/tls.hpp"
#include "gateway/rosbridge/bson.hpp"
#include "gateway/rosbridge/connection.hpp"

namespace hyphos::gateway {
namespace rosbridge {
namespace {

constexpr Duration kLook = Duration::from_seconds(1);
/// Time limit for the first bytes of a client that is refused.
constexpr Duration kRefusal = Duration::from_seconds(2);
constexpr Duration kPing = Duration::from_ms(10'000);

struct Settings {
  Duration ping = kPing;
  /// The origin of files. Browsers do not distinguish it from pages in a sandbox.
  Patterns origins{"null"};
};

Result<Settings> settings_of(const Options& options) {
  static const Setters<Settings> setters{
      {"ping_s",
       [](Settings& settings, const std::string& value) -> std::string {
         double seconds = 0;
         if (!read_number(value, seconds) || !(seconds >= 0.05) || !(seconds <= 3600)) {
           return "must be a number of seconds from 0.05 to 3600";
         }
         settings.ping = Duration::from_seconds(seconds);
         return "";
       }},
      {"origins", patterns(&Settings::origins)},
  };
  Settings settings;
  if (auto set = set_all(settings, setters, options, "rosbridge"); !set) return set.error();
  return settings;
}

class Rosbridge final : public Protocol {
 public:
  Rosbridge(GraphFacade& facade, Options options, Settings settings,
            std::unique_ptr<net::TlsFront> tls)
      : options_(std::move(options)),
        settings_(std::move(settings)),
        tls_(std::move(tls)),
        params_(facade.parameters().open([] {})),
        setup_{facade,         *params_,          options_,    loops_,
               settings_.ping, settings_.origins, loan_budget_} {
    look();
  }

  ~Rosbridge() override {
    listener_.reset();
    looking_ = {};
    for (const auto& weak : connections_) {
      if (const auto alive = weak.lock())
        alive->close(net::CloseCode::going_away, "the gateway is shutting down");
    }
  }

  Result<void> listen() {
    net::Listener::Options where;
    where.host = options_.host;
    where.port = options_.port;
    where.max_clients = options_.max_clients;
    net::Listener::Callbacks callbacks;
    callbacks.accepted = [this](net::Connection connection) { accept(std::move(connection)); };
    callbacks.refused = [this](net::Connection connection) { refuse(std::move(connection)); };
    auto listener = net::Listener::open(loops_.any(), where, std::move(callbacks));
    if (!listener) return listener.error();
    listener_ = *std::move(listener);
    return success();
  }

  [[nodiscard]] std::string address() const override {
    return (tls_ == nullptr ? "ws://" : "wss://") + listener_->address();
  }
  [[nodiscard]] std::uint16_t port() const override { return listener_->port(); }

 private:
  /// A client beyond --max-clients, which is refused after its first bytes. The listener bounds
  /// their number.
  struct Refused {
    std::weak_ptr<net::Stream> stream;
    net::Timer timer;  // closes it if it sends nothing
  };

  // Looks ahead, so that the parameters of a node are known before a client asks.
  void look() {
    params_->look();
    looking_ = loops_.any().after(kLook, [this] { look(); });
  }

  void accept(net::Connection connection) {
    Connection::limit_silence(connection.fd.get(), setup_.ping);
    if (tls_ != nullptr) {
      const std::string peer = connection.peer;
      auto plain = tls_->wrap(loops_.next(), std::move(connection));
      if (!plain) {
        setup_.facade.clients().count({"rosbridge " + peer}, "tls", plain.error().message);
        return;
      }
      connection = *std::move(plain);
    }
    std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
    connections_.push_back(Connection::start(setup_, std::move(connection)));
  }

  void refuse(net::Connection connection) {
    const std::string text =
        at_limit("the gateway", options_.max_clients, "clients", "--max-clients");
    setup_.facade.clients().count({"rosbridge " + connection.peer}, "max_clients", text);
    if (tls_ != nullptr) return;
    net::Loop& loop = loops_.any();
    const auto stream = net::Stream::open(loop, std::move(connection), {});
    const std::weak_ptr<net::Stream> weak = stream;
    std::erase_if(refused_, [](const Refused& one) { return one.stream.expired(); });
    refused_.push_back({weak, loop.after(kRefusal, [weak] {
                          if (const auto alive = weak.lock()) alive->finish();
                        })});
    // The first bytes decide the form of the reply. All bytes are read and discarded. If they were
    // left unread, a reset could overtake the reply.
    stream->start({.measure =
                       [](std::span<const std::byte> bytes) {
                         return bytes.size() < 4 ? net::Measured::at_least(4)
                                                 : net::Measured::unit(bytes.size());
                       },
                   .unit =
                       [weak, text](const Buffer& unit) {
                         const auto alive = weak.lock();
                         if (!alive) return;
                         const std::string reply =
                             bson_size(unit.bytes())
                                 ? bson_error(text)
                                 : net::http_refusal("503 Service Unavailable", text);
                         alive->send(net::kControl, net::Message(Buffer::copy_of(reply)));
                         alive->finish();
                       },
                   .refused = {},
                   .closed = [] {}});
  }

  const Options options_;
  const Settings settings_;
  const std::unique_ptr<net::TlsFront> tls_;
  const std::unique_ptr<NodeParams> params_;
  LoanBudget loan_budget_{options_.max_message};
  net::Loops loops_;
  const Connection::Setup setup_;
  net::Timer looking_;
  // Owned by the listener's callbacks:
  std::vector<std::weak_ptr<Connection>> connections_;
  std::vector<Refused> refused_;
  std::unique_ptr<net::Listener> listener_;
};

}  // namespace
}  // namespace rosbridge

Result<std::unique_ptr<Protocol>> open_rosbridge(GraphFacade& facade, const Options& options) {
  auto settings = rosbridge::settings_of(options);
  if (!settings) return settings.error();
  std::unique_ptr<net::TlsFront> tls;
  if (options.tls) {
    auto opened = net::TlsFront::open(*options.tls);
    if (!opened) return opened.error();
    tls = *std::move(opened);
  }
  auto protocol =
      std::make_unique<rosbridge::Rosbridge>(facade, options, *std::move(settings), std::move(tls));
  if (const auto listening = protocol->listen(); !listening) return listening.error();
  return std::unique_ptr<Protocol>(std::move(protocol));
}

}  // namespace hyphos::gateway
