#include "transport/shm/shm.hpp"

#include <unistd.h>

#include "base/hot.hpp"
#include "hyphos/time.hpp"
#include "transport/registry.hpp"
#include "transport/shm/directory.hpp"
#include "transport/shm/ports.hpp"
#include "transport/shm/receiver.hpp"
#include "transport/shm/sender.hpp"

namespace hyphos::transport {
namespace {

Result<std::shared_ptr<shm::Participant>> join(const ShmConfig& config) {
  if (config.participant) return config.participant;
  shm::ParticipantOptions options;
  options.base = config.base_dir;
  options.domain = config.domain;
  options.process_name = config.process_name;
  options.pool_limit_bytes = config.pool_limit_bytes;
  return shm::Participant::create(options);
}

/// The transport. The sender and the receiver carry messages over the rings that the directory
/// gives them.
class Shm final : public ShmTransport, private shm_detail::ReceiverEvents {
 public:
  explicit Shm(ShmConfig config)
      : ShmTransport(shm_detail::kName),
        sender_(ports_),
        receiver_(ports_, *this),
        config_(std::move(config)),
        directory_(config_, ports_, sender_, receiver_) {}
  ~Shm() override { Shm::stop(0); }

  Result<void> start() override;
  PollFunction receive_by_polling() override { return receiver_.receive_by_polling(); }
  void stop(std::int64_t linger_ms) override;
  Result<PortId> open(const ChannelSpec& spec, ReceiveSink* sink,
                      SendEvents* send_events) override {
    return directory_.open(spec, sink, send_events);
  }
  void close(PortId port) override { directory_.close(port); }
  HYPHOS_HOT SendReport send(PortId port, const Envelope& message) override {
    return sender_.send(port, message);
  }
  bool has_room(PortId port, std::size_t size) override { return sender_.has_room(port, size); }
  std::uint64_t largest(PortId) const override { return sender_.largest(); }
  HYPHOS_HOT WritableBuffer loan(PortId port, std::size_t size) override {
    return sender_.loan(port, size);
  }
  HYPHOS_HOT void on_space(PortId port) override { receiver_.on_space(port); }
  std::vector<PeerStatus> peers() const override { return directory_.peers(); }
  std::uint64_t participant_id() const override { return self_ != nullptr ? self_->id() : 0; }

 private:
  void ring_finished() override { directory_.signal_control(); }

  // In the order of use by a message, so that the sending side touches few cache lines.
  shm_detail::Ports ports_;
  shm_detail::Sender sender_;
  shm_detail::Receiver receiver_;
  const ShmConfig config_;
  std::shared_ptr<shm::Participant> self_;
  shm_detail::Directory directory_;
};

Result<void> Shm::start() {
  auto self = join(config_);
  if (!self) return self.error();
  self_ = std::move(*self);
  sender_.use(self_);
  receiver_.use(self_);
  if (auto started = directory_.start(self_); !started) return started;
  receiver_.start();
  return {};
}

void Shm::stop(std::int64_t linger_ms) {
  if (!ports_.started() || !ports_.begin_stop()) return;
  if (self_->control().pid() != ::getpid()) {
    // A forked child has no threads to end, and the files belong to the parent.
    directory_.abandon_thread();
    receiver_.abandon_thread();
    return;
  }
  sender_.flush(monotonic_now().ns + Duration::from_ms(linger_ms).ns);
  sender_.give_up();
  ports_.gate().close();
  directory_.stop();
  receiver_.stop();
  directory_.leave();
  ports_.free_retired();
  // The participant itself stays, because its metrics may still be in use.
}

}  // namespace

std::unique_ptr<ShmTransport> make_shm(ShmConfig config) {
  return std::make_unique<Shm>(std::move(config));
}

namespace make {
MadeTransport shm(const TransportContext& context) {
  ShmConfig config;
  config.participant = context.participant;
  config.domain = context.domain;
  config.process_name = context.process_name;
  config.guest = context.guest;
  config.host = context.host;
  return {make_shm(std::move(config)), nullptr};
}
}  // namespace make

}  // namespace hyphos::transport
