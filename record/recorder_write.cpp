// The writing thread of a Recorder: files, their beginnings and ends, the ring.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <system_error>

#include "hyphos/time.hpp"
#include "record/recorder.hpp"

namespace hyphos::record {
namespace {

constexpr std::string_view kSummary = "hyphos.recording";
constexpr std::string_view kInterim = "hyphos.recording.interim";
constexpr std::int64_t kFirstInterimNs = 1'000'000'000;
constexpr std::int64_t kInterimNs = 10'000'000'000;
constexpr std::size_t kMaxLatched = 4096;
constexpr std::size_t kSummaryPerChannel = 288;  // maximum bytes of a tally as JSON

std::string to_json(const Tally& tally) {
  std::string out = "{";
  const auto field = [&out](std::string_view name, std::uint64_t value) {
    if (out.size() > 1) out += ", ";
    out.append("\"").append(name).append("\": ").append(std::to_string(value));
  };
  field("received", tally.received);
  field("written", tally.written);
  field("bytes", tally.bytes);
  field("missing", tally.missing);
  field("drop_queue", tally.drop_queue);
  field("drop_disk", tally.drop_disk);
  field("drop_convert", tally.drop_convert);
  field("repeated", tally.repeated);
  return out + "}";
}

void add(Tallies& to, const Tallies& more) {
  for (std::size_t id = 0; id < more.size(); ++id)
    at(to, static_cast<std::uint16_t>(id)) += more[id];
}

// The tallies of a chunk that could not be written.
Tallies lost(const Tallies& tallies) {
  Tallies out = tallies;
  for (Tally& tally : out) {
    tally.drop_disk += std::exchange(tally.written, 0);
    tally.bytes = 0;
  }
  return out;
}

}  // namespace

std::filesystem::path Recorder::file_name() const {
  // The first file of a recording that is split only on request has a plain name.
  if (!splits() && file_number_ == 0) return options_.path;
  char number[16];
  std::snprintf(number, sizeof(number), "_%03u", file_number_);
  std::filesystem::path name = options_.path.stem();
  name += number;
  name += options_.path.extension();
  return options_.path.parent_path() / name;
}

mcap::Dictionary Recorder::summary(const Tallies& tallies) const {
  mcap::Dictionary out;
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Tally none;
    const Tally& tally = i + 1 < tallies.size() ? tallies[i + 1] : none;
    out[sources_[i].spec.name] = to_json(tally);
  }
  return out;
}

Result<void> Recorder::open_file() {
  auto file = McapFile::create(file_name(), options_.overwrite, options_.profile);
  if (!file) return file.error();
  const std::int64_t opened = monotonic_now().ns;
  open_ = Open{std::move(*file), 0, {}, opened, opened + kFirstInterimNs};
  ++file_number_;
  std::filesystem::path doomed;
  {
    const MutexLock lock(mutex_);
    files_.push_back(open_->file.path());
    open_bytes_ = open_->file.size();
    if (options_.keep_files != 0 && files_.size() > options_.keep_files) {
      doomed = std::move(files_.front());
      files_.pop_front();
    }
  }
  if (!doomed.empty()) {
    std::error_code ignored;  // another program may have removed it already
    std::filesystem::remove(doomed, ignored);
  }
  return success();
}

Result<void> Recorder::close_file() {
  // Channels and attachments without a later chunk.
  auto prepared = prepare(*open_);
  auto closed = open_->file.close(kSummary, summary(open_->tallies), options_.sync);
  {
    const MutexLock lock(mutex_);
    finished_bytes_ += open_->file.size();
    open_bytes_ = 0;
  }
  open_.reset();
  return prepared ? closed : prepared;
}

void Recorder::write(Job& job) {
  if (ring()) {
    auto chunk = std::make_shared<Packed>(std::move(job.packed));
    {
      const MutexLock lock(mutex_);
      for (std::size_t id = 0; id < chunk->tallies.size(); ++id) {
        at(totals_, static_cast<std::uint16_t>(id)).written += chunk->tallies[id].written;
        at(totals_, static_cast<std::uint16_t>(id)).bytes += chunk->tallies[id].bytes;
      }
    }
    keep(std::move(chunk));
    return;
  }
  const Packed& chunk = job.packed;
  Result<void> done = success();
  if (open_) {
    const McapFile& file = open_->file;
    const bool has_messages = file.statistics().messages != 0;
    const bool large = options_.split_bytes != 0 && has_messages &&
                       file.size() + chunk.stored > options_.split_bytes;
    const bool old = options_.split_ns != 0 && has_messages && chunk.messages != 0 &&
                     chunk.end_time - file.statistics().start_time >
                         static_cast<std::uint64_t>(options_.split_ns);
    if ((job.split_before && has_messages) || large || old) {
      done = close_file();
      if (done) done = open_file();
    }
    if (done) done = store(*open_, chunk, latched_);
  }
  if (!done || !open_) return fail(done ? Error{} : done.error(), chunk);
  remember(latched_, chunk.latched);
  const MutexLock lock(mutex_);
  open_bytes_ = open_->file.size();
  for (std::size_t id = 0; id < chunk.tallies.size(); ++id) {
    at(totals_, static_cast<std::uint16_t>(id)).written += chunk.tallies[id].written;
    at(totals_, static_cast<std::uint16_t>(id)).bytes += chunk.tallies[id].bytes;
  }
}

// The disk accepts no more data, so only the end of the file can be saved.
void Recorder::fail(Error error, const Packed& chunk) {
  const Tallies gone = lost(chunk.tallies);
  {
    const MutexLock lock(mutex_);
    for (std::size_t id = 0; id < gone.size(); ++id) {
      at(totals_, static_cast<std::uint16_t>(id)).drop_disk += gone[id].drop_disk;
    }
    if (!failure_) failure_ = std::move(error);
  }
  if (!open_) return;
  add(open_->tallies, gone);
  // The file is complete with its index if there is room for it. Else it is cut off, but every
  // chunk is readable.
  (void)close_file();
}

// Writes the new attachments, metadata, schemas and channels, which must precede a chunk.
Result<void> Recorder::prepare(Open& to) {
  std::vector<Preamble> preamble;
  std::vector<mcap::Schema> schemas;
  std::vector<mcap::Channel> channels;
  {
    const MutexLock lock(mutex_);
    preamble.assign(preamble_.begin() + static_cast<std::ptrdiff_t>(to.preamble), preamble_.end());
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const auto id = static_cast<std::uint16_t>(i + 1);
      if (to.file.has_channel(id)) continue;
      const Source& source = sources_[i];
      channels.push_back({id, source.schema_id, source.spec.name, source.spec.message_encoding,
                          source.spec.metadata});
      if (source.schema_id == 0 || to.file.has_schema(source.schema_id)) continue;
      const auto known = [&](const mcap::Schema& s) { return s.id == source.schema_id; };
      if (std::none_of(schemas.begin(), schemas.end(), known)) {
        schemas.push_back(schemas_[source.schema_id - 1U]);
      }
    }
    to.file.expect_last(kSummaryPerChannel * sources_.size());
  }
  for (const Preamble& item : preamble) {
    auto put =
        item.attachment ? to.file.put(*item.attachment) : to.file.put(item.name, item.values);
    if (!put) return put;
    ++to.preamble;
  }
  for (const mcap::Schema& schema : schemas) {
    if (auto put = to.file.put(schema); !put) return put;
  }
  for (const mcap::Channel& channel : channels) {
    if (auto put = to.file.put(channel); !put) return put;
  }
  return success();
}

Result<void> Recorder::store(Open& to, const Packed& chunk, const LatchedValues& latched) {
  if (auto ready = prepare(to); !ready) return ready;
  const bool first = to.file.statistics().messages == 0 && chunk.messages != 0;
  if (first && !latched.empty()) {
    if (auto put = write_latched(to, latched, chunk.start_time); !put) return put;
  }
  if (auto wrote = to.file.write(chunk); !wrote) return wrote;
  add(to.tallies, chunk.tallies);
  if (options_.deterministic || ring()) return success();
  // Counters for a recording that is killed.
  const std::int64_t now = monotonic_now().ns;
  if (now < to.next_interim_ns) return success();
  to.next_interim_ns = now + std::clamp(now - to.opened_ns, kFirstInterimNs, kInterimNs);
  // The chunk is written. If the disk is full now, the next chunk reports it.
  (void)to.file.put(kInterim, summary(to.tallies));
  return success();
}

// Writes the latched values published before this file began, with the time of its first message.
Result<void> Recorder::write_latched(Open& to, const LatchedValues& latched,
                                     std::uint64_t start_time) {
  Chunk chunk;
  for (const auto& [key, value] : latched) {
    MessageInfo info = value.info;
    info.log_ns = start_time;
    chunk.add(info, *value.data);
    ++chunk.tally(info.channel).repeated;
  }
  Packer packer;
  const Packed packed = packer.pack(std::move(chunk), options_.compression, false);
  if (auto wrote = to.file.write(packed); !wrote) return wrote;
  add(to.tallies, packed.tallies);
  return success();
}

void Recorder::remember(LatchedValues& values, const std::vector<Latched>& more) {
  for (const Latched& value : more) {
    values[{value.info.channel, value.sender, value.info.sequence}] = value;
    const auto first = values.lower_bound({value.info.channel, value.sender, 0});
    const auto last = values.upper_bound({value.info.channel, value.sender, UINT32_MAX});
    if (std::distance(first, last) > static_cast<std::ptrdiff_t>(value.depth)) values.erase(first);
  }
  // There may be any number of senders, so the oldest values are dropped.
  while (values.size() > kMaxLatched) {
    values.erase(std::min_element(values.begin(), values.end(), [](const auto& a, const auto& b) {
      return a.second.info.log_ns < b.second.info.log_ns;
    }));
  }
}

void Recorder::keep(std::shared_ptr<Packed> chunk) {
  std::vector<std::shared_ptr<const Packed>> doomed;  // destroyed after the lock is released
  const MutexLock lock(mutex_);
  const std::uint64_t newest = chunk->messages != 0 ? chunk->end_time : 0;
  ring_used_ += chunk->stored + chunk->indexes.size();
  ring_.push_back(std::move(chunk));
  while (ring_.size() > 1) {
    const Packed& oldest = *ring_.front();
    const bool large = options_.ring_bytes != 0 && ring_used_ > options_.ring_bytes;
    const bool old = options_.ring_ns != 0 && newest != 0 &&
                     oldest.end_time + static_cast<std::uint64_t>(options_.ring_ns) < newest;
    if (!large && !old) break;
    ring_used_ -= oldest.stored + oldest.indexes.size();
    remember(before_ring_, oldest.latched);
    doomed.push_back(std::move(ring_.front()));
    ring_.pop_front();
  }
}

Result<Written> Recorder::snapshot(const std::filesystem::path& path, bool overwrite) {
  if (!ring()) {
    return Error{Code::unsupported,
                 "only a ring recording takes snapshots, but this one writes a file",
                 path.string()};
  }
  const MutexLock one_at_a_time(snapshot_mutex_);
  if (auto flushed = flush(); !flushed) return flushed.error();
  std::deque<std::shared_ptr<const Packed>> chunks;
  LatchedValues latched;
  {
    const MutexLock lock(mutex_);
    chunks = ring_;
    latched = before_ring_;
  }
  auto file = McapFile::create(path, overwrite, options_.profile);
  if (!file) return file.error();
  Open to{std::move(*file), 0, {}, monotonic_now().ns, 0};
  Result<void> done = success();
  for (auto at = chunks.begin(); at != chunks.end() && done; ++at) done = store(to, **at, latched);
  if (done) done = prepare(to);
  auto closed = to.file.close(kSummary, summary(to.tallies), options_.sync);
  if (!done) return done.error();
  if (!closed) return closed.error();
  const mcap::Statistics& of = to.file.statistics();
  return Written{path, of.messages, to.file.size(), static_cast<std::int64_t>(of.start_time),
                 static_cast<std::int64_t>(of.end_time)};
}

}  // namespace hyphos::record
