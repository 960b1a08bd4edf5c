#include "gateway/ros1/ros1.hpp"

#include <chrono>
#include <future>
#include <utility>

#include "base/log.hpp"
#include "gateway/ros1/graph.hpp"
#include "gateway/ros1/master.hpp"
#include "gateway/ros1/settings.hpp"

namespace hyphos::gateway::ros1 {
namespace {

/// Maximum wait for a silent master when the gateway ends.
constexpr std::chrono::seconds kGoodbye{3};

// Dependencies: the graph, in the call thread, opens connections on the other loops. Their
// callbacks post to the call thread. So the shutdown has three steps: the graph starts no new work,
// the connections end, the call thread ends.
class Gateway final : public Protocol {
 public:
  Gateway(GraphFacade& facade, const Options& options, Settings settings)
      : settings_(std::move(settings)),
        loan_budget_(options.max_message),
        connections_(std::make_unique<net::Loops>()),
        calls_(std::make_unique<net::Loop>()),
        client_(*calls_),
        context_{facade, *connections_, loan_budget_,          settings_.node,
                 "",     options,       settings_.call_timeout} {}

  Result<void> open() {
    if (settings_.is_master) {
      auto master = Master::open(*calls_, {.host = context_.options.host,
                                           .port = settings_.master_port,
                                           .name = settings_.hostname});
      if (!master) return master.error();
      master_ = std::move(*master);
      settings_.master_uri = master_->uri();
    }
    context_.group = "ros1 " + settings_.master_uri;
    auto server = TcprosServer::open(context_);
    if (!server) return server.error();
    server_ = std::move(*server);
    auto node = RpcServer::open(
        *calls_, {.host = context_.options.host, .port = settings_.node_port},
        [this](const RpcCall& call, const net::Address& from, RpcReply reply) {
          if (graph_) return graph_->answer(call, from, std::move(reply));
          reply(Error{Code::disconnected, "the gateway's node is still starting. Try again", ""});
        });
    if (!node) return node.error();
    node_ = std::move(*node);
    member_ = std::make_unique<Member>(
        Member{client_, settings_.master_uri, make_uri("http", settings_.hostname, node_->port()),
               make_uri("rosrpc", settings_.hostname, server_->port()), settings_.node});
    calls_->post([this] {
      graph_ = std::make_unique<Graph>(context_, *calls_, *member_, *server_, settings_);
      graph_->start();
    });
    warn_if_unreachable();
    return success();
  }

  ~Gateway() override {
    if (member_) {
      auto left = std::make_shared<std::promise<void>>();
      auto parted = left->get_future();
      auto stopped = std::make_shared<std::promise<void>>();
      calls_->post([this, left, stopped] {
        graph_->stop([left] { left->set_value(); });
        stopped->set_value();
      });
      stopped->get_future().wait();
      (void)parted.wait_for(kGoodbye);
    }
    connections_.reset();
    calls_.reset();
  }
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  [[nodiscard]] std::string address() const override { return settings_.master_uri; }
  [[nodiscard]] std::uint16_t port() const override {
    const auto uri = Uri::parse(settings_.master_uri);
    return uri ? uri->port : 0;
  }

 private:
  void warn_if_unreachable() const {
    const auto master = Uri::parse(settings_.master_uri);
    if (!master || is_loopback(master->host) || !is_loopback(settings_.hostname)) return;
    log::warn("ros1", "the ROS 1 master is at " + master->host + ", but " + settings_.node +
                          " can only be reached on this machine. Set the option hostname");
  }

  Settings settings_;
  LoanBudget loan_budget_;
  std::unique_ptr<net::Loops> connections_;
  std::unique_ptr<net::Loop> calls_;
  RpcClient client_;
  Context context_;
  std::unique_ptr<Master> master_;
  std::unique_ptr<TcprosServer> server_;
  std::unique_ptr<RpcServer> node_;
  std::unique_ptr<Member> member_;
  std::unique_ptr<Graph> graph_;  ///< owned by the call thread
};

}  // namespace

Result<std::unique_ptr<Protocol>> open_ros1(GraphFacade& facade, const Options& options) {
  auto settings = Settings::of(options);
  if (!settings) return settings.error();
  auto gateway = std::make_unique<Gateway>(facade, options, std::move(*settings));
  const Result<void> opened = gateway->open();
  if (!opened) return opened.error();
  return std::unique_ptr<Protocol>(std::move(gateway));
}

}  // namespace hyphos::gateway::ros1
