// Clock requests to other machines, their replies, and the conversion of stamps.
// docs/reference/wire_links.md, "Clocks".
#include <algorithm>
#include <array>

#include "transport/host_clock.hpp"
#include "transport/zmq/receiver.hpp"
#include "transport/zmq/receiver_state.hpp"

namespace hyphos::transport::zmq {
namespace {

constexpr std::uint64_t kAtOnce = 8;  // requests at the start, to have a good estimate soon
constexpr std::int64_t kSoonNs = 50'000'000;
constexpr std::int64_t kLaterNs = 1'000'000'000;
constexpr std::size_t kMaxHosts = 256;  // kept in memory

}  // namespace

std::int64_t Receiver::ask_clocks(std::int64_t now_ns) {
  std::int64_t next = 0;
  for (const auto& [session, publisher] : publishers_) {
    if (!publisher->clock || publisher->active == 0) continue;
    HostClock& clock = *publisher->clock;
    if (clock.next_ns <= now_ns) {
      clock.next_ns = now_ns + (++clock.questions < kAtOnce ? kSoonNs : kLaterNs);
      clock.asked_over = publisher->active;
      clock.asked_ns = monotonic_now().ns;
      tell(*links_.at(publisher->active), wire::Ask{clock.asked_ns});
    }
    if (next == 0 || clock.next_ns < next) next = clock.next_ns;
  }
  // Hosts without a publisher are removed when there are many: each boot of a host is a new one.
  if (host_clocks_.size() > kMaxHosts) {
    std::erase_if(host_clocks_, [](const auto& item) { return item.second.use_count() == 1; });
  }
  return next;
}

bool Receiver::take_answer(const PeerView& link, const wire::Answer& answer, std::int64_t now_ns) {
  const auto found = publishers_.find(link.session);
  if (found == publishers_.end() || !found->second->clock) return false;
  const Publisher& publisher = *found->second;
  HostClock& clock = *publisher.clock;
  // Too late, or never requested: the content cannot be trusted, but it does no harm.
  if (clock.asked_over != link.id || clock.asked_ns != answer.asked_ns) return true;
  clock.asked_ns = 0;
  if (!clock.offset.add({answer.asked_ns, answer.heard_ns, answer.answered_ns, now_ns})) {
    return false;
  }
  clock.wall_ns = answer.clock_offset_ns;
  if (!settings_.on_peer_clock) return true;
  PeerClock status;
  status.process = publisher.process;
  status.endpoint = link.endpoint;
  status.host = publisher.host;
  status.offset_ns = clock.offset.offset(now_ns);
  const auto wrap = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  status.wall_ahead_ns = static_cast<std::int64_t>(wrap(status.offset_ns) + wrap(clock.wall_ns) -
                                                   wrap(local_clock().offset_ns));
  status.uncertainty_ns = clock.offset.uncertainty(now_ns);
  status.round_trip_ns = clock.offset.round_trip();
  status.drift_ppm = clock.offset.drift_ppm();
  status.samples = clock.offset.samples();
  status.measured_ns = now_ns;
  settings_.on_peer_clock(status);
  return true;
}

/// Converts the stamps of a message to our clock: with the measured offset as soon as there is one,
/// through the wall clocks until then. No stamp is later than the arrival, in spite of the
/// uncertainty.
void Receiver::localize(const Publisher& publisher, Stamps& stamps, std::int64_t now_ns) const {
  const bool measured =
      publisher.clock && publisher.clock->offset.known() && header_.clock.host == publisher.host;
  if (!measured) {
    wire::convert_stamps(stamps, header_.clock, local_clock());
    return;
  }
  const std::array<std::int64_t*, 3> all = {&stamps.publish, &stamps.encoded, &stamps.submitted};
  const auto theirs = static_cast<std::uint64_t>(publisher.clock->offset.offset(now_ns));
  std::int64_t latest = 0;
  for (const std::int64_t* stamp : all) latest = std::max(latest, *stamp);
  const auto ours = static_cast<std::int64_t>(static_cast<std::uint64_t>(latest) - theirs);
  const std::uint64_t late =
      ours > now_ns ? static_cast<std::uint64_t>(ours) - static_cast<std::uint64_t>(now_ns) : 0;
  for (std::int64_t* stamp : all) {
    if (*stamp == 0) continue;
    *stamp = static_cast<std::int64_t>(static_cast<std::uint64_t>(*stamp) - theirs - late);
  }
}

}  // namespace hyphos::transport::zmq
