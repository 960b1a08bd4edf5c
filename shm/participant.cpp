#include "shm/participant.hpp"

#include <unistd.h>

#include <algorithm>

namespace hyphos::shm {
namespace {

constexpr std::uint64_t kMostByDefault = std::uint64_t{2} << 30;

}  // namespace

Result<void> Participant::enter(const ParticipantOptions& options) {
  auto domain = Domain::open(options.base, options.domain);
  if (!domain) return domain.error();
  domain_ = std::move(*domain);
  // Files of dead participants are removed at once if no live participant may still be reading
  // them. Otherwise all participants remove them a little later (transport, grace time).
  const auto others = domain_.participants();
  if (std::all_of(others.begin(), others.end(),
                  [&](std::uint64_t id) { return domain_.is_dead(id); })) {
    domain_.clean();
  }
  auto control = Control::create(domain_, random_id(), options.process_name);
  if (!control) return control.error();
  control_ = std::move(*control);
  return {};
}

Result<std::shared_ptr<Participant>> Participant::create(const ParticipantOptions& options) {
  std::shared_ptr<Participant> self(new Participant());
  auto entered = self->enter(options);
  // The last earlier participant removed the folder while this one was entering (Domain, D5).
  for (int i = 0; !entered && self->domain_.removed() && i < kEntryAttempts; ++i) {
    entered = self->enter(options);
  }
  if (!entered) return entered.error();
  auto socket = self->domain_.bind_socket(self->id());
  if (!socket) return socket.error();
  self->socket_ = std::move(*socket);
  if (options.metrics_bytes != 0) {
    const std::string name = metrics_name(self->id());
    auto file = self->domain_.create(options.metrics_bytes, name);
    if (!file) return file.error();
    auto mapping =
        Mapping::map(file->get(), 0, options.metrics_bytes, Mapping::Access::write, false);
    if (!mapping) return mapping.error();
    if (auto linked = self->domain_.publish(*file, name); !linked) return linked.error();
    self->metrics_ = std::move(*mapping);
  }
  std::uint64_t limit = options.pool_limit_bytes;
  if (limit == 0) limit = std::min(self->domain_.space().total / 4, kMostByDefault);
  self->pool_ = std::make_unique<Pool>(self->domain_, self->control_, limit);
  return self;
}

Participant::~Participant() {
  // A forked child has copies of our descriptors, but it is another process.
  if (!control_.valid() || control_.pid() != ::getpid()) return;
  if (!leave_files_) domain_.remove_all(id());
  // The others detect the death that follows when the notice arrives.
  std::vector<std::uint64_t> others = domain_.participants();
  UniqueFd socket = std::move(socket_);
  control_ = {};
  // If no live participant can read the files of the dead, they are removed, and the folder, too
  // (Domain, D5).
  if (std::all_of(others.begin(), others.end(),
                  [this](std::uint64_t id) { return domain_.is_dead(id); })) {
    domain_.clean();
    (void)domain_.remove_if_empty();
  }
  for (const std::uint64_t other : others) domain_.notify(socket, other);
}

std::span<std::byte> Participant::grow_metrics(std::size_t bytes) {
  std::uint64_t size = 0;
  const std::string name = metrics_name(id());
  auto file = domain_.open_file(name, size);
  if (!file || !reserve(*file, size, bytes, domain_.path() + "/" + name)) return {};
  auto mapping = Mapping::map(file->get(), size, bytes, Mapping::Access::write, false);
  if (!mapping) return {};
  more_metrics_.push_back(std::move(*mapping));
  return more_metrics_.back().bytes();
}

void Participant::notify_all() const {
  for (const std::uint64_t other : domain_.participants()) {
    if (other != id()) domain_.notify(socket_, other);
  }
}

}  // namespace hyphos::shm
