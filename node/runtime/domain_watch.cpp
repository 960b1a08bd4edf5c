#include "node/runtime/domain_watch.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <optional>

#include "shm/control.hpp"
#include "shm/domain.hpp"
#include "shm/os.hpp"
#include "trace/live_endpoints.hpp"

namespace hyphos {
namespace {

constexpr const char* kBase = "/dev/shm";
/// The identity and the last change of the folder of a domain.
struct Stamp {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t changed_ns = 0;
  off_t size = 0;

  bool operator==(const Stamp&) const = default;
};

/// The clock from which a folder gets the time of a change. The kernel advances it at its ticks. A
/// busy machine delays ticks, so no number of milliseconds is certain to have one.
std::int64_t tick_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::optional<Stamp> stamp_of(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return Stamp{info.st_dev, info.st_ino,
               std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec,
               info.st_size};
}

}  // namespace

class DomainWatch::Impl {
 public:
  explicit Impl(std::string name) : name_(std::move(name)) {}

  Changes look() {
    Changes changes;
    if (!domain_ || is_folder_changed()) scan(changes);
    for (auto& [id, process] : processes_) {
      cost_.bytes += trace::LiveEndpoints::kLookedAt;
      if (process.live.changed(process.memory.bytes())) read(id, process, changes);
    }
    return changes;
  }
  [[nodiscard]] const Cost& cost() const { return cost_; }

 private:
  struct Known {
    shm::Mapping memory;
    trace::LiveEndpoints live;
  };

  /// True if a process may have come or gone.
  [[nodiscard]] bool is_folder_changed() {
    ++cost_.system_calls;
    const auto now = stamp_of(domain_->path());
    if (now && stamp_ && *now == *stamp_) return false;
    const bool same_folder = now && folder_ == std::pair(now->device, now->inode);
    if (!same_folder) domain_.reset();
    return true;
  }

  void scan(Changes& changes) {
    stamp_.reset();
    cost_.system_calls += 4;
    if (!domain_) {
      auto found = shm::Domain::find(kBase, name_);
      if (found) domain_.emplace(std::move(*found));
    }
    std::vector<std::uint64_t> present;
    bool complete = true;
    if (domain_) {
      // Before the files are listed. Two changes in one tick have the same time. So a later change
      // gives another stamp only if a tick has followed the change that this stamp shows.
      const auto now = stamp_of(domain_->path());
      if (now) folder_ = {now->device, now->inode};
      if (now && tick_ns() > now->changed_ns) stamp_ = now;
      present = domain_->participants();
      for (const std::uint64_t id : present) complete = is_known(id, changes) && complete;
    }
    if (!complete) stamp_.reset();
    std::erase_if(processes_, [&](const auto& process) {
      if (std::ranges::find(present, process.first) != present.end()) return false;
      changes.ended.push_back(process.first);
      return true;
    });
  }

  /// Opens the metrics of a new process. Returns false if the next look must try again.
  bool is_known(std::uint64_t id, Changes& changes) {
    if (processes_.contains(id)) return true;
    cost_.system_calls += 16;
    if (domain_->is_dead(id)) return true;  // the removal of its files changes the folder
    const auto control = shm::Control::open(*domain_, id);
    if (!control) return control.error().code != Code::exhausted;
    Known known;
    // A process that starts publishes this file later, which changes the folder.
    const Map mapped = map(id, known.memory);
    if (mapped != Map::done) return mapped == Map::no_file;
    processes_.emplace(id, std::move(known));
    changes.started.push_back({id, control->pid(), control->process()});
    return true;
  }

  enum class Map : std::uint8_t { done, no_file, failed };

  /// Maps the metrics, if the file is larger than `memory`. `failed`: this process lacks memory.
  Map map(std::uint64_t id, shm::Mapping& memory) {
    std::uint64_t size = 0;
    cost_.system_calls += 3;
    const auto file = domain_->open_file(shm::metrics_name(id), size, false);
    if (!file && file.error().code == Code::exhausted) return Map::failed;
    if (!file || size == 0) return Map::no_file;
    if (size <= memory.size()) return Map::done;
    cost_.system_calls += 2;
    auto mapped = shm::Mapping::map(file->get(), 0, size, shm::Mapping::Access::read, false);
    if (mapped) memory = std::move(*mapped);
    return mapped ? Map::done : Map::failed;
  }

  void read(std::uint64_t id, Known& process, Changes& changes) {
    (void)map(id, process.memory);  // the process may have added blocks
    trace::LiveEndpoints::Changes found;
    process.live.read(process.memory.bytes(), found);
    cost_.bytes += found.bytes;
    for (const std::uint64_t end : found.closed) changes.closed.emplace_back(id, end);
    for (EndpointInfo& end : found.opened) changes.opened.emplace_back(id, std::move(end));
  }

  const std::string name_;
  std::optional<shm::Domain> domain_;
  std::pair<dev_t, ino_t> folder_;
  std::optional<Stamp> stamp_;  ///< of the last list of files, none if it may have changed since
  std::map<std::uint64_t, Known> processes_;
  Cost cost_;
};

DomainWatch::DomainWatch(std::string domain) : impl_(std::make_unique<Impl>(std::move(domain))) {}
DomainWatch::~DomainWatch() = default;
DomainWatch::Changes DomainWatch::look() { return impl_->look(); }
const DomainWatch::Cost& DomainWatch::cost() const { return impl_->cost(); }

}  // namespace hyphos
