#include "gateway/ros2/transport.hpp"

#include <fastdds/rtps/network/SenderResource.h>
#include <fastdds/rtps/transport/ChainingTransport.h>
#include <fastdds/rtps/transport/ChainingTransportDescriptor.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "gateway/ros2/greeting.hpp"

namespace hyphos::gateway::ros2 {
namespace {

namespace transports = eprosima::fastdds::rtps;
using eprosima::fastrtps::rtps::IPLocator;
using eprosima::fastrtps::rtps::Locator_t;
using eprosima::fastrtps::rtps::LocatorList_t;
using eprosima::fastrtps::rtps::octet;
using eprosima::fastrtps::rtps::SenderResource;
using Clock = std::chrono::steady_clock;

/// The number of participants per machine that get unicast announcements, as in rmw_cyclonedds_cpp.
constexpr std::uint32_t kPeers = 32;

Address address_of(const Locator_t& locator) {
  Address address{};
  std::memcpy(address.data(), IPLocator::getIPv4(locator), address.size());
  return address;
}

/// True if a datagram is a participant's announcement: DATA of the entity that RTPS 2.5, 9.3.1.3
/// reserves for it, after the header and a time.
bool is_announcement(const octet* bytes, std::uint32_t size) {
  constexpr std::array<octet, 4> kAnnouncer{0x00, 0x01, 0x00, 0xC2};
  constexpr std::size_t kWriter = 20 + 12 + 4 + 4 + 4;
  return size >= kWriter + kAnnouncer.size() &&
         std::equal(kAnnouncer.begin(), kAnnouncer.end(), bytes + kWriter);
}

class LocatorIterator final : public transports::LocatorsIterator {
 public:
  explicit LocatorIterator(const Locator_t* at) : at_(at) {}
  LocatorsIterator& operator++() override {
    ++at_;
    return *this;
  }
  bool operator==(const LocatorsIterator& other) const override {
    return at_ == static_cast<const LocatorIterator&>(other).at_;
  }
  bool operator!=(const LocatorsIterator& other) const override { return !(*this == other); }
  const Locator_t& operator*() const override { return *at_; }

 private:
  const Locator_t* at_;
};

struct Descriptor final : transports::ChainingTransportDescriptor {
  Descriptor(const std::shared_ptr<transports::TransportDescriptorInterface>& udp, Reach its_reach,
             const TransportSettings& settings)
      : ChainingTransportDescriptor(udp),
        reach(its_reach),
        domain_id(settings.domain_id),
        host(settings.host) {}
  [[nodiscard]] transports::TransportInterface* create_transport() const override;

  const Reach reach;
  const std::uint32_t domain_id;
  const std::string host;
};

class Transport final : public transports::ChainingTransport {
 public:
  explicit Transport(const Descriptor& descriptor)
      : ChainingTransport(descriptor),
        descriptor_(descriptor),
        host_(hyphos::gateway::ros2::address_of(descriptor.host)) {}

  transports::TransportDescriptorInterface* get_configuration() override { return &descriptor_; }

  /// Fast DDS calls this function and send() under the participant's lock for sending.
  bool OpenOutputChannel(transports::SendResourceList& resources,
                         const Locator_t& locator) override {
    opened_.insert(locator);
    return ChainingTransport::OpenOutputChannel(resources, locator);
  }

  bool send(SenderResource* resource, const octet* bytes, std::uint32_t size,
            transports::LocatorsIterator* begin, transports::LocatorsIterator* end,
            const Clock::time_point& timeout) override {
    targets_.clear();
    for (; *begin != *end; ++*begin) {
      const Locator_t& locator = **begin;
      if (!IsLocatorSupported(locator) || !is_within_reach(locator)) continue;
      if (descriptor_.reach == Reach::address && !sends_to(*resource, locator)) continue;
      targets_.push_back(locator);
    }
    if (descriptor_.reach != Reach::address && is_announcement(bytes, size)) add_own_addresses();
    if (targets_.empty()) return true;
    for (const Locator_t& locator : targets_) open(locator);
    // Each datagram arrives here once per socket. The first socket sends to readers. With a single
    // address, the socket with the matching address sends.
    if (first_ == nullptr) first_ = resource;
    if (resource == first_ || descriptor_.reach == Reach::address) Pace::wait_for(size);
    if (Pace::greets()) {
      // A greeting that is lost has no effect, like any heartbeat.
      const auto greeting = greeting_before({bytes, size});
      if (greeting) (void)send_to_targets(resource, *greeting, timeout);
    }
    return send_to_targets(resource, {bytes, size}, timeout);
  }

  void receive(transports::TransportReceiverInterface* next, const octet* bytes, std::uint32_t size,
               const Locator_t& local, const Locator_t& remote) override {
    // The kernel accepts no datagram from outside that claims an address of this machine.
    if (descriptor_.reach == Reach::machine && !own_.contains(address_of(remote))) return;
    next->OnDataReceived(bytes, size, local, remote);
  }

  bool transform_remote_locator(const Locator_t& remote, Locator_t& local) const override {
    if (!is_within_reach(remote)) return false;
    if (descriptor_.reach != Reach::address || !IsLocatorSupported(remote)) {
      return ChainingTransport::transform_remote_locator(remote, local);
    }
    // Programs that listen only at this address receive nothing at the loopback address.
    const Address address = address_of(remote);
    local = remote;
    return is_multicast(address) || is_loopback(address) || address == host_ ||
           !own_.contains(address);
  }

  /// Programs that are limited to the loopback address reach no other address of this machine.
  LocatorList_t NormalizeLocator(const Locator_t& locator) override {
    LocatorList_t list = ChainingTransport::NormalizeLocator(locator);
    if (descriptor_.reach != Reach::machine || !IPLocator::isAny(locator)) return list;
    Locator_t loopback(locator);
    IPLocator::setIPv4(loopback, 127, 0, 0, 1);
    if (std::find(list.begin(), list.end(), loopback) == list.end()) list.push_back(loopback);
    return list;
  }

 private:
  [[nodiscard]] bool send_to_targets(SenderResource* resource, std::span<const octet> bytes,
                                     const Clock::time_point& timeout) const {
    LocatorIterator first(targets_.data());
    LocatorIterator last(targets_.data() + targets_.size());
    return resource->send(bytes.data(), static_cast<std::uint32_t>(bytes.size()), &first, &last,
                          timeout);
  }

  /// With Reach::machine, multicast carries only announcements, because its delivery depends on the
  /// interfaces that other programs have chosen.
  [[nodiscard]] bool is_within_reach(const Locator_t& locator) const {
    if (descriptor_.reach != Reach::machine || !IsLocatorSupported(locator)) return true;
    const Address address = address_of(locator);
    if (is_multicast(address)) return locator.port == announcement_port(descriptor_.domain_id);
    return own_.contains(address);
  }

  /// Of the two sockets, at the address and at the loopback address, each sends to its own kind.
  [[nodiscard]] bool sends_to(const SenderResource& resource, const Locator_t& locator) {
    auto known = loopbacks_.find(&resource);
    if (known == loopbacks_.end()) {
      LocatorList_t own;
      resource.add_locators_to_list(own);
      const bool loopback = !own.empty() && is_loopback(address_of(*own.begin()));
      known = loopbacks_.emplace(&resource, loopback).first;
    }
    return is_loopback(address_of(locator)) == known->second;
  }

  /// Cyclone DDS accepts announcements only on its own interfaces. So announcements to the loopback
  /// address are also sent to the other addresses of this machine.
  void add_own_addresses() {
    const std::size_t given = targets_.size();
    for (std::size_t i = 0; i < given; ++i) {
      if (!is_loopback(address_of(targets_[i]))) continue;
      for (const Address& own : own_.list()) {
        Locator_t locator(targets_[i]);
        IPLocator::setIPv4(locator, own[0], own[1], own[2], own[3]);
        targets_.push_back(locator);
      }
    }
  }

  /// Once Fast DDS has its sockets, this only adds the entry of its statistics.
  void open(const Locator_t& locator) {
    if (!opened_.insert(locator).second) return;
    transports::SendResourceList none;
    low_level_transport_->OpenOutputChannel(none, locator);
  }

  Descriptor descriptor_;
  const Address host_;
  std::map<const SenderResource*, bool> loopbacks_;
  mutable OwnAddresses own_;
  std::set<Locator_t> opened_;
  const SenderResource* first_ = nullptr;
  std::vector<Locator_t> targets_;  ///< targets of the present datagram, kept to reuse its memory
};

transports::TransportInterface* Descriptor::create_transport() const {
  return new Transport(*this);
}

struct Schedule {
  std::uint64_t bytes_per_second = 0;
  Clock::time_point next;  ///< time at which all sent bytes would have been sent at that rate
  bool greets = false;
};
thread_local Schedule schedule;

}  // namespace

std::shared_ptr<transports::TransportDescriptorInterface> make_transport(
    const TransportSettings& settings) {
  const Reach reach = reach_of(settings.host);
  const auto udp = std::make_shared<transports::UDPv4TransportDescriptor>();
  udp->sendBufferSize = settings.socket_buffer;
  udp->receiveBufferSize = settings.socket_buffer;
  udp->maxInitialPeersRange = kPeers;
  // Fast DDS uses the loopback address for its own machine, regardless of the address it was given.
  if (reach == Reach::address) udp->interfaceWhiteList = {settings.host, "127.0.0.1"};
  if (reach == Reach::machine) udp->TTL = 0;  // multicast stays on this machine
  return std::make_shared<Descriptor>(udp, reach, settings);
}

Pace::Pace(std::uint64_t bytes_per_second, bool greets) {
  schedule = {bytes_per_second, Clock::now(), greets};
}

Pace::~Pace() { schedule = {}; }

bool Pace::greets() { return schedule.greets; }

void Pace::wait_for(std::size_t bytes) {
  if (schedule.bytes_per_second == 0) return;
  const auto takes = [](std::size_t size) {
    const double seconds =
        static_cast<double>(size) / static_cast<double>(schedule.bytes_per_second);
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  const auto now = Clock::now();
  schedule.next = std::max(schedule.next, now) + takes(bytes);
  // A thread wakes up about 50 µs late, so it sleeps once per burst and not once per datagram.
  if (schedule.next - now > takes(kBurst)) std::this_thread::sleep_until(schedule.next);
}

}  // namespace hyphos::gateway::ros2
