// iceoryx 2.0: untyped publish/subscribe on loaned chunks, woken through a WaitSet. Its daemon,
// RouDi, gets a memory pool that fits the message size. A hop copies, because a received chunk
// cannot be published again.

#include <fstream>

#include "iceoryx_hoofs/log/logmanager.hpp"
#include "iceoryx_posh/popo/untyped_publisher.hpp"
#include "iceoryx_posh/popo/untyped_subscriber.hpp"
#include "iceoryx_posh/popo/wait_set.hpp"
#include "iceoryx_posh/runtime/posh_runtime.hpp"
#include "lab/common/main.hpp"

namespace hyphos::lab {
namespace {

class IceoryxPeer : public Peer {
 public:
  static constexpr const char* kName = "iceoryx";
  static std::vector<Variant> variants() { return {{"", kBetweenProcesses}}; }
  static std::vector<std::string> daemon(const Options& options) {
    const std::string path = options.run_dir + "/roudi.toml";
    // Per edge: the queue of a subscriber, the chunk that it holds, and the chunk that the
    // publisher fills. RouDi clears the whole pool at its start, so large messages get fewer
    // chunks.
    const std::size_t count =
        options.size >= (8u << 20)
            ? 8
            : 24u * static_cast<std::size_t>(options.edges() + options.sources() - 1);
    std::ofstream(path) << "[general]\nversion = 1\n[[segment]]\n[[segment.mempool]]\nsize = "
                        << (options.size + 63) / 64 * 64 << "\ncount = " << count << "\n";
    return {"iox-roudi", "-c", path, "-l", "error"};
  }

  explicit IceoryxPeer(const Options& options) : Peer(options) {
    iox::log::LogManager::GetLogManager().SetDefaultLogLevel(iox::log::LogLevel::kError);
    const std::string name = "lab-" + options.role + std::to_string(options.index);
    iox::runtime::PoshRuntime::initRuntime(
        iox::RuntimeName_t(iox::cxx::TruncateToCapacity, name.c_str()));
  }

  void open_publisher(const Edge& edge) override {
    iox::popo::PublisherOptions how;
    if (edge.block) {
      how.subscriberTooSlowPolicy = iox::popo::ConsumerTooSlowPolicy::WAIT_FOR_CONSUMER;
    }
    publisher_ = std::make_unique<iox::popo::UntypedPublisher>(service(edge), how);
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    on_message_ = std::move(on_message);
    iox::popo::SubscriberOptions how;
    how.queueCapacity = options_.size >= (8u << 20) ? 4 : 16;
    if (edge.block) how.queueFullPolicy = iox::popo::QueueFullPolicy::BLOCK_PRODUCER;
    subscriber_ = std::make_unique<iox::popo::UntypedSubscriber>(service(edge), how);
    wait_set_ = std::make_unique<iox::popo::WaitSet<1>>();
    wait_set_->attachState(*subscriber_, iox::popo::SubscriberState::HAS_DATA).or_else([](auto) {
      throw std::runtime_error("iceoryx: cannot attach to the WaitSet");
    });
  }
  void publish(std::size_t size, Fill fill) override {
    publisher_->loan(static_cast<std::uint32_t>(size))
        .and_then([&](void* chunk) {
          fill(static_cast<std::byte*>(chunk));
          publisher_->publish(chunk);
        })
        .or_else([](auto) { throw std::runtime_error("iceoryx: no chunk to loan"); });
  }
  void spin(const std::function<bool()>& stopped) override {
    while (!stopped()) {
      wait_set_->wait();
      for (bool more = true; more;) {
        subscriber_->take()
            .and_then([this](const void* chunk) {
              on_message_(chunk,
                          iox::mepoo::ChunkHeader::fromUserPayload(chunk)->userPayloadSize());
              subscriber_->release(chunk);
            })
            .or_else([&more](auto) { more = false; });
      }
    }
  }

 private:
  static iox::capro::ServiceDescription service(const Edge& edge) {
    return {"hyphos", "lab",
            iox::capro::IdString_t(iox::cxx::TruncateToCapacity, edge.name.c_str())};
  }

  OnMessage on_message_;
  std::unique_ptr<iox::popo::UntypedPublisher> publisher_;
  std::unique_ptr<iox::popo::UntypedSubscriber> subscriber_;
  std::unique_ptr<iox::popo::WaitSet<1>> wait_set_;  // destroyed first, to detach
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  return hyphos::lab::lab_main<hyphos::lab::IceoryxPeer>(argc, argv);
}
