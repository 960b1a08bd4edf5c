#include "record/recorder.hpp"

#include <pthread.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "hyphos/time.hpp"

namespace hyphos::record {
namespace {

constexpr std::size_t kMaxSenders = 4096;  // remembered per channel
constexpr int kMaxPackers = 4;

std::size_t hold_limit(const Options& options) {
  if (options.hold_bytes != kAutomatic) return options.hold_bytes;
  struct statvfs shm{};
  if (::statvfs("/dev/shm", &shm) != 0) return 0;
  const std::uint64_t total = shm.f_blocks * shm.f_frsize;
  return std::min<std::uint64_t>(total / 8, options.queue_bytes / 2);
}

int packers(const Options& options) {
  if (options.packers > 0) return options.packers;
  if (options.compression == Compression::none) return 1;
  const int spare = static_cast<int>(std::thread::hardware_concurrency()) - 1;
  return std::clamp(spare, 1, kMaxPackers);
}

}  // namespace

Recorder::Recorder(Options options)
    : options_(std::move(options)), hold_limit_(hold_limit(options_)) {}

Result<std::shared_ptr<Recorder>> Recorder::open(Options options) {
  if (options.chunk_bytes == 0 || options.queue_bytes == 0) {
    return Error{Code::invalid_config, "the chunk and the queue must be larger than 0 bytes", ""};
  }
  std::shared_ptr<Recorder> recorder(new Recorder(std::move(options)));
  if (!recorder->ring()) {
    if (auto opened = recorder->open_file(); !opened) return opened.error();
  }
  recorder->start();
  return recorder;
}

void Recorder::start() {
  const MutexLock lock(close_mutex_);
  for (int i = 0; i < packers(options_); ++i) {
    threads_.emplace_back([this] { pack_loop(); });
  }
  threads_.emplace_back([this] { write_loop(); });
}

Recorder::~Recorder() { (void)close(); }

std::int64_t Recorder::now() const { return options_.clock ? options_.clock() : wall_now().ns; }

Result<std::uint16_t> Recorder::add_channel(ChannelSpec spec) {
  const MutexLock lock(mutex_);
  if (sources_.size() >= std::numeric_limits<std::uint16_t>::max()) {
    return Error{Code::exhausted, "an MCAP file holds at most 65,535 channels", spec.name};
  }
  Source source;
  if (spec.schema) {
    const auto same = [&](const mcap::Schema& known) {
      return known.name == spec.schema->name && known.encoding == spec.schema->encoding &&
             known.data == spec.schema->data;
    };
    auto known = std::find_if(schemas_.begin(), schemas_.end(), same);
    if (known == schemas_.end()) {
      spec.schema->id = static_cast<std::uint16_t>(schemas_.size() + 1);
      known = schemas_.insert(schemas_.end(), *spec.schema);
    }
    source.schema_id = known->id;
  }
  source.spec = std::move(spec);
  sources_.push_back(std::move(source));
  return static_cast<std::uint16_t>(sources_.size());
}

Result<void> Recorder::subscribe(const Node& node, std::uint16_t id, const std::string& channel,
                                 const TypeId& type, const Policy& wish) {
  SubscriptionOptions options;
  // In the delivering thread, because the message is only added to the open chunk.
  options.mode = Mode::inline_;
  options.policy = wish;
  const bool own_clock = static_cast<bool>(options_.clock);
  auto taken = node.raw_subscribe(
      channel, type, options, [this, id, own_clock](const Message<RawMessage>& message) {
        const Stamps stamps = message.stamps();
        const std::int64_t age = own_clock ? 0 : stamps.callback - stamps.publish;
        accept(id, message.sender(), message.sequence(), now() - age, message->payload,
               message->buffers);
      });
  if (!taken) return taken.error();
  const MutexLock lock(subscriptions_mutex_);
  subscriptions_.push_back(std::move(*taken));
  return success();
}

// A number that is not greater than the last one belongs to a latched value sent again.
void Recorder::count_gap(Source& source, Tally& tally, Tally& total, std::uint64_t sender,
                         std::uint64_t sequence) {
  if (sequence == 0) return;
  if (source.last.size() >= kMaxSenders && !source.last.contains(sender)) source.last.clear();
  const auto [at, fresh] = source.last.try_emplace(sender, sequence);
  if (fresh) return;
  if (sequence > at->second + 1) {
    const std::uint64_t gap = sequence - at->second - 1;
    tally.missing += gap;
    total.missing += gap;
  }
  at->second = std::max(at->second, sequence);
}

void Recorder::accept(std::uint16_t id, std::uint64_t sender, std::uint64_t sequence,
                      std::int64_t publish_ns, const Buffer& payload, const BufferList& buffers) {
  const std::size_t size = stored_size(payload, buffers) + mcap::kMessageHead;
  const MutexLock lock(mutex_);
  if (closing_ || id == 0 || id > sources_.size()) return;
  // Read under the lock, so that the times in a chunk increase.
  const MessageInfo info{id, static_cast<std::uint32_t>(sequence), mcap::timestamp(now()),
                         mcap::timestamp(publish_ns)};
  const bool fresh = chunk_.empty();
  Source& source = sources_[id - 1U];
  Tally& tally = chunk_.tally(id);
  Tally& total = at(totals_, id);
  ++tally.received;
  ++total.received;
  count_gap(source, tally, total, sender, sequence);
  if (failure_) {
    ++total.drop_disk;
  } else if (waiting_ + size > options_.queue_bytes && waiting_ != 0) {
    ++tally.drop_queue;
    ++total.drop_queue;
  } else {
    const std::size_t held = chunk_.held();
    chunk_.add(info, payload, buffers, held_ + size <= hold_limit_);
    if (source.spec.latched_depth > 0 && (ring() || splits())) {
      chunk_.latch(sender, source.spec.latched_depth);
    }
    waiting_ += size;
    chunk_bytes_ += size;
    held_ += chunk_.held() - held;
    chunk_held_ += chunk_.held() - held;
    ++tally.written;
    tally.bytes += size - mcap::kMessageHead;
  }
  if (chunk_.size() >= options_.chunk_bytes) {
    rotate();
  } else if (fresh) {
    chunk_opened_ns_ = monotonic_now().ns;
    writer_wake_.notify_one();
  }
}

void Recorder::refuse(std::uint16_t id, std::uint64_t sender, std::uint64_t sequence) {
  const MutexLock lock(mutex_);
  if (closing_ || id == 0 || id > sources_.size()) return;
  const bool fresh = chunk_.empty();
  Tally& tally = chunk_.tally(id);
  Tally& total = at(totals_, id);
  for (Tally* one : {&tally, &total}) {
    ++one->received;
    ++one->drop_convert;
  }
  count_gap(sources_[id - 1U], tally, total, sender, sequence);
  if (fresh) {
    chunk_opened_ns_ = monotonic_now().ns;
    writer_wake_.notify_one();
  }
}

// Passes the open chunk to the packers, and appends it to the writer's list.
void Recorder::rotate() {
  if (chunk_.empty() && !split_next_) return;
  auto job = std::make_shared<Job>();
  job->number = next_number_++;
  job->chunk = std::exchange(chunk_, Chunk());
  job->bytes = std::exchange(chunk_bytes_, 0);
  job->held = std::exchange(chunk_held_, 0);
  job->split_before = std::exchange(split_next_, false);
  unpacked_.push_back(job);
  order_.push_back(std::move(job));
  packers_wake_.notify_one();
}

void Recorder::pack_loop() {
  ::pthread_setname_np(::pthread_self(), "hyphos-pack");
  Packer packer;
  UniqueLock lock(mutex_);
  for (;;) {
    packers_wake_.wait(lock,
                       [this]() HYPHOS_REQUIRES(mutex_) { return !unpacked_.empty() || closed_; });
    if (unpacked_.empty()) return;
    const std::shared_ptr<Job> job = std::move(unpacked_.front());
    unpacked_.pop_front();
    Compression compression = options_.compression;
    const bool behind = waiting_ > options_.queue_bytes / 2 && !options_.deterministic && !ring();
    if (compression != Compression::none && behind) {
      compression = Compression::none;
      ++uncompressed_chunks_;
    }
    lock.unlock();
    Packed packed = packer.pack(std::move(job->chunk), compression, ring());
    lock.lock();
    // A compressed chunk no longer keeps the memory of its messages.
    const bool own = packed.memory != nullptr || packed.body.empty();
    const std::size_t bytes = own ? std::min<std::size_t>(job->bytes, packed.stored) : job->bytes;
    waiting_ -= job->bytes - bytes;
    job->bytes = bytes;
    if (own) held_ -= std::exchange(job->held, 0);
    job->packed = std::move(packed);
    job->ready = true;
    writer_wake_.notify_one();
  }
}

void Recorder::write_loop() {
  ::pthread_setname_np(::pthread_self(), "hyphos-record");
  UniqueLock lock(mutex_);
  for (;;) {
    const auto ready = [this]() HYPHOS_REQUIRES(mutex_) {
      return !order_.empty() && order_.front()->ready;
    };
    const auto finished = [this]() HYPHOS_REQUIRES(mutex_) { return closing_ && order_.empty(); };
    if (!ready() && !finished()) {
      if (chunk_.empty() || options_.deterministic || closing_) {
        writer_wake_.wait(lock);
      } else {
        const std::int64_t left = chunk_opened_ns_ + options_.flush_ns - monotonic_now().ns;
        if (left <= 0) {
          rotate();
        } else {
          writer_wake_.wait_for(lock, std::chrono::nanoseconds(left));
        }
      }
      continue;
    }
    if (!ready()) break;
    const std::shared_ptr<Job> job = std::move(order_.front());
    order_.pop_front();
    lock.unlock();
    write(*job);
    job->packed = {};  // releases slots, so not under the lock
    lock.lock();
    finish(*job);
  }
  closed_ = true;
  packers_wake_.notify_all();
  lock.unlock();
  if (open_) {
    if (auto closed = close_file(); !closed) {
      const MutexLock again(mutex_);
      if (!failure_) failure_ = closed.error();
    }
  }
}

void Recorder::finish(Job& job) {
  waiting_ -= job.bytes;
  held_ -= job.held;
  done_number_ = job.number;
  written_.notify_all();
}

Result<void> Recorder::flush() {
  UniqueLock lock(mutex_);
  rotate();
  const std::uint64_t last = next_number_ - 1;
  written_.wait(lock, [&]() HYPHOS_REQUIRES(mutex_) { return done_number_ >= last || closed_; });
  if (failure_) return *failure_;
  return success();
}

Result<void> Recorder::split() {
  if (ring()) {
    return Error{Code::unsupported, "a ring recording has no file to split. Take a snapshot", ""};
  }
  const MutexLock lock(mutex_);
  rotate();
  split_next_ = true;
  return success();
}

void Recorder::attach(mcap::Attachment attachment) {
  const MutexLock lock(mutex_);
  preamble_.push_back({std::move(attachment), {}, {}});
}

void Recorder::describe(std::string name, mcap::Dictionary values) {
  const MutexLock lock(mutex_);
  preamble_.push_back({{}, std::move(name), std::move(values)});
}

Result<void> Recorder::close() {
  const MutexLock once(close_mutex_);
  std::vector<Subscription> subscriptions;
  {
    const MutexLock lock(subscriptions_mutex_);
    subscriptions.swap(subscriptions_);
  }
  for (const Subscription& subscription : subscriptions) subscription.close();
  if (threads_.empty()) return success();
  {
    const MutexLock lock(mutex_);
    if (chunk_.empty()) split_next_ = false;  // else the recording would end with an empty file
    rotate();
    closing_ = true;
  }
  writer_wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  const MutexLock lock(mutex_);
  if (failure_) return *failure_;
  return success();
}

Status Recorder::status() const {
  const MutexLock lock(mutex_);
  Status status;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    Tally& tally = status.channels[sources_[i].spec.name];
    if (i + 1 < totals_.size()) tally += totals_[i + 1];
  }
  status.bytes_on_disk = finished_bytes_ + open_bytes_;
  status.waiting_bytes = waiting_;
  status.held_bytes = held_;
  status.ring_bytes = ring_used_;
  // Chunks with counters only have no time.
  const auto timed = [](const std::shared_ptr<const Packed>& chunk) {
    return chunk->messages != 0;
  };
  const auto oldest = std::find_if(ring_.begin(), ring_.end(), timed);
  const auto newest = std::find_if(ring_.rbegin(), ring_.rend(), timed);
  if (oldest != ring_.end()) {
    status.ring_ns = static_cast<std::int64_t>((*newest)->end_time - (*oldest)->start_time);
  }
  status.uncompressed_chunks = uncompressed_chunks_;
  status.files.assign(files_.begin(), files_.end());
  status.failure = failure_;
  return status;
}

}  // namespace hyphos::record
