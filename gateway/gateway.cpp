#include "hyphos/gateway.hpp"

#include <utility>

#include "base/mutex.hpp"
#include "gateway/arguments.hpp"
#include "gateway/facade/hyphos_graph.hpp"
#include "gateway/known_types.hpp"
#include "hyphos/node.hpp"
#include "hyphos/plan.hpp"

namespace hyphos {

class Gateway::Impl {
 public:
  static Result<std::unique_ptr<Impl>> open(Node node, const gateway::Arguments& arguments) {
    auto types = gateway::read_types(arguments.types);
    if (!types) return types.error();
    std::unique_ptr<Impl> made(new Impl(node, *types, arguments.rules));
    made->facade_.learn_announced(node, **types);
    auto protocol = arguments.open(made->facade_, arguments.options);
    if (!protocol) return protocol.error();
    made->address_ = (*protocol)->address();
    made->port_ = (*protocol)->port();
    {
      const MutexLock lock(made->mutex_);
      made->protocol_ = std::move(*protocol);
    }
    return made;
  }

  ~Impl() { close(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void close() {
    const MutexLock lock(mutex_);
    facade_.end_calls();
    protocol_.reset();
  }
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] const gateway::HyphosGraph& facade() const { return facade_; }

 private:
  Impl(const Node& node, const std::shared_ptr<gateway::Types>& types, const gateway::Rules& rules)
      : facade_(node, types, rules) {}

  gateway::HyphosGraph facade_;
  std::string address_;
  std::uint16_t port_ = 0;
  Mutex mutex_;
  // destroyed before the facade
  std::unique_ptr<gateway::Protocol> protocol_ HYPHOS_GUARDED_BY(mutex_);
};

Result<Gateway> Gateway::open(Node node, const std::vector<std::string>& words) {
  auto arguments = gateway::parse_arguments(words);
  if (!arguments) return arguments.error();
  auto impl = Impl::open(std::move(node), *arguments);
  if (!impl) return impl.error();
  return Gateway(std::move(*impl));
}

Gateway::Gateway(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Gateway::Gateway(Gateway&&) noexcept = default;
Gateway& Gateway::operator=(Gateway&&) noexcept = default;
Gateway::~Gateway() = default;

void Gateway::close() { impl_->close(); }
std::string Gateway::address() const { return impl_->address(); }
std::uint16_t Gateway::port() const { return impl_->port(); }
std::map<std::string, std::uint64_t> Gateway::counters() const {
  return impl_->facade().counters();
}

namespace {

/// A node of a plan with the key `gateway:`.
class GatewayNode {
 public:
  explicit GatewayNode(const Node& node)
      : gateway_(Gateway::open(node, words_of(node)).or_throw()) {
    node.log().info("listening on ", gateway_.address());
  }

 private:
  static std::vector<std::string> words_of(const Node& node) {
    const Plan* plan = node.runtime().plan();
    const NodePlan* planned = plan == nullptr ? nullptr : plan->node(node.name());
    if (planned == nullptr) return {};
    std::vector<std::string> words = {planned->program};
    words.insert(words.end(), planned->args.begin(), planned->args.end());
    return words;
  }

  Gateway gateway_;
};

}  // namespace
}  // namespace hyphos

HYPHOS_NODE(hyphos::GatewayNode)
