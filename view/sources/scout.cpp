#include "view/sources/scout.hpp"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <utility>

#include "hyphos/inspect.hpp"
#include "view/core/names.hpp"

namespace hyphos::view {
namespace {

constexpr std::chrono::milliseconds kPeriod{500};
constexpr std::size_t kMaxDescriptors = 256;  // that wait for take()

void mix(std::uint64_t& hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x100000001b3U;  // FNV-1a
}

std::vector<Offer> offers_of(const std::vector<ProcessInfo>& processes) {
  std::vector<Offer> offers;
  // Publishers first: their policy is that of the channel.
  for (const bool publishers : {true, false}) {
    for (const ProcessInfo& process : processes) {
      if (process.pid == ::getpid()) continue;
      for (const EndpointInfo& end : process.endpoints) {
        if (end.is_publisher != publishers || !is_shown(end.channel)) continue;
        Offer offer;
        offer.name = end.channel;
        offer.type = {end.type_name, end.encoding, end.type_hash};
        offer.policy = end.policy;
        const std::uint64_t sent = end.counter(end.is_publisher ? "sent" : "received");
        if (sent != 0) offer.mean_bytes = end.counter("bytes") / sent;
        bool known = false;
        for (const Offer& other : offers) {
          known = known || (other.name == offer.name && other.type == offer.type);
        }
        if (!known) offers.push_back(std::move(offer));
      }
    }
  }
  return offers;
}

}  // namespace

Scout::Scout(std::string domain, std::function<void()> changed)
    : domain_(std::move(domain)), changed_(std::move(changed)) {
  (void)look();
  thread_ = std::thread([this] { run(); });
}

Scout::~Scout() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

Scout::News Scout::take() {
  const MutexLock lock(mutex_);
  News taken = news_;
  news_.changed = false;
  news_.descriptors.clear();
  return taken;
}

bool Scout::look() {
  const auto processes = inspect(domain_);
  if (!processes) {
    const MutexLock lock(mutex_);
    const bool changed = news_.problem != processes.error().to_string();
    news_.problem = processes.error().to_string();
    news_.changed = news_.changed || changed;
    return changed;
  }
  std::uint64_t signature = 0xcbf29ce484222325U;
  std::size_t others = 0;
  for (const ProcessInfo& process : *processes) {
    if (process.pid == ::getpid()) continue;
    ++others;
    mix(signature, process.participant);
    for (const EndpointInfo& end : process.endpoints) {
      mix(signature, end.id);
      mix(signature, end.type_hash);
    }
  }
  if (signature == signature_) return false;
  signature_ = signature;
  std::vector<std::string> descriptors;
  if (auto types = announced_types(domain_)) {
    for (AnnouncedTypes& one : *types) {
      if (seen_.insert(std::hash<std::string>()(one.descriptors)).second) {
        descriptors.push_back(std::move(one.descriptors));
      }
    }
  }
  std::vector<Offer> offers = offers_of(*processes);
  const MutexLock lock(mutex_);
  news_.changed = true;
  news_.problem.clear();
  news_.processes = others;
  news_.offers = std::move(offers);
  for (std::string& one : descriptors) {
    if (news_.descriptors.size() < kMaxDescriptors) news_.descriptors.push_back(std::move(one));
  }
  return true;
}

void Scout::run() {
  ::pthread_setname_np(::pthread_self(), "view-scout");
  UniqueLock lock(mutex_);
  while (!stop_.wait_for(lock, kPeriod, [this]() HYPHOS_REQUIRES(mutex_) { return stopping_; })) {
    lock.unlock();
    if (look() && changed_) changed_();
    lock.lock();
  }
}

}  // namespace hyphos::view
