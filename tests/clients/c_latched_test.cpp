#include "tests/clients/c_harness.hpp"
#include "tests/node/latched_orders.hpp"

namespace hyphos::test {
namespace {

constexpr hyphos_policy latched_policy(std::uint32_t depth) {
  hyphos_policy policy{};
  policy.struct_size = sizeof policy;
  policy.depth = depth;
  policy.latched = 1;
  return policy;
}

/// Publishers of one node and subscriptions of the same or another node, through the C interface.
class CEnds final : public LatchedEnds {
 public:
  CEnds(hyphos_node* from, hyphos_node* to, std::string channel, std::uint64_t seed)
      : from_(from), to_(to), channel_(std::move(channel)), policy_(latched_policy(1 + seed % 3)) {
    wish_ = seed % 2 == 0 ? &policy_ : nullptr;  // The policy of a subscription is optional.
  }
  ~CEnds() override {
    for (const auto& one : subscriptions_) one->handle.reset();
  }

  void open_publisher() override {
    publishers_.push_back(hyphos::test::open_publisher(from_, channel_.c_str(), kNumber, &policy_));
  }
  void publish(std::size_t publisher, std::int64_t value) override {
    EXPECT_EQ(
        hyphos_publish(publishers_[publisher], &value, sizeof value, nullptr, 0, nullptr, nullptr),
        HYPHOS_OK);
  }
  void close_publisher(std::size_t publisher) override { publishers_[publisher].reset(); }
  void subscribe() override {
    subscriptions_.push_back(std::make_unique<One>());
    One& one = *subscriptions_.back();
    one.handle = std::make_unique<CSubscription>(hyphos::test::subscribe(
        to_, channel_.c_str(),
        [](void* user, const hyphos_message* message) {
          std::int64_t value = 0;
          std::memcpy(&value, message->payload.data, sizeof value);
          static_cast<Arrivals*>(user)->add(value);
        },
        &one.inbox, HYPHOS_SERIAL, kNumber, wish_));
  }
  void unsubscribe(std::size_t subscription) override {
    subscriptions_[subscription]->handle.reset();
  }
  std::vector<std::int64_t> heard(std::size_t subscription) override {
    return subscriptions_[subscription]->inbox.values();
  }
  std::uint32_t publishers(std::size_t subscription) override {
    return hyphos_subscription_publishers(*subscriptions_[subscription]->handle);
  }
  std::uint32_t listeners(std::size_t publisher) override {
    return hyphos_publisher_listeners(publishers_[publisher]);
  }

 private:
  struct One {
    Arrivals inbox;
    std::unique_ptr<CSubscription> handle;
  };
  hyphos_node* const from_;
  hyphos_node* const to_;
  const std::string channel_;
  const hyphos_policy policy_;
  const hyphos_policy* wish_ = nullptr;
  std::vector<CPublisher> publishers_;
  std::vector<std::unique_ptr<One>> subscriptions_;
};

TEST(CLatched, each_latched_value_arrives_once_in_every_order_of_steps) {
  const std::string domain = fresh_domain();
  const CNode from = open_node(domain, "from");
  const CNode to = open_node(domain, "to");
  std::uint64_t number = 0;
  for (const bool one_process : {false, true}) {
    std::vector<std::string> orders = orders_of("PSSCS");
    for (std::uint64_t seed = 1; seed <= 3; ++seed) orders.push_back(random_steps(seed, 30));
    for (const std::string& steps : orders) {
      CEnds ends(from, one_process ? from : to, "n" + std::to_string(number), number);
      LatchedModel(ends, one_process, number).run(steps);
      if (HasFailure()) return;
      ++number;
    }
  }
}

}  // namespace
}  // namespace hyphos::test
