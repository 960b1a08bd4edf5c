#include "view/sources/past_file.hpp"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "hyphos/time.hpp"
#include "record/recorder.hpp"
#include "view/core/types.hpp"
#include "view/sources/open.hpp"

namespace hyphos::view {
namespace {

constexpr std::size_t kMostCache = 16U << 20U;  // of chunks that are read back
constexpr std::int64_t kLookPeriod = 1'000'000'000;

std::optional<record::mcap::Schema> schema_of(const Channel& channel,
                                              const google::protobuf::DescriptorPool& types) {
  record::mcap::Schema schema;
  schema.name = channel.type;
  switch (channel.encoding) {
    case Encoding::bytes:
      return std::nullopt;
    case Encoding::structure:
    case Encoding::custom:
      schema.encoding = "hyphos." + std::string(to_string(channel.encoding));
      return schema;
    case Encoding::protobuf:
    case Encoding::attached:
      break;
  }
  const google::protobuf::Descriptor* type = types.FindMessageTypeByName(channel.type);
  if (type == nullptr) return schema;
  schema.encoding = "protobuf";
  schema.data = definition_of(*type, channel.encoding == Encoding::attached);
  return schema;
}

std::string policy_text(const Policy& policy) {
  return std::string(R"({"reliability": ")") +
         (policy.reliability == Reliability::reliable ? "reliable" : "best_effort") +
         R"(", "latched": )" + (policy.latched ? "true" : "false") + R"(, "depth": )" +
         std::to_string(policy.depth) + "}";
}

std::string hex(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

/// Passes samples of the file with the ids of the live source.
class FromFile final : public Sink {
 public:
  FromFile(const std::vector<std::uint32_t>& ids, Sink& to) : ids_(ids), to_(to) {}
  void take(const Sample& sample) override {
    if (sample.channel >= ids_.size()) return;
    Sample made = sample;
    made.channel = ids_[sample.channel];
    to_.take(made);
  }
  void clear() override {}

 private:
  const std::vector<std::uint32_t>& ids_;
  Sink& to_;
};

}  // namespace

Result<std::unique_ptr<PastFile>> PastFile::create(const std::string& path) {
  // The recorder asks for the time of a sample in accept(), under its lock and in this thread only.
  auto now = std::make_shared<std::int64_t>(0);
  record::Options options;
  options.path = path;
  options.packers = 1;
  options.queue_bytes = 64U << 20U;
  options.hold_bytes = options.queue_bytes;  // samples are on the heap, not in shared memory
  options.clock = [now] { return *now; };
  auto recorder = record::Recorder::open(std::move(options));
  if (!recorder) return recorder.error();
  return std::unique_ptr<PastFile>(new PastFile(path, std::move(now), std::move(*recorder)));
}

PastFile::PastFile(std::string path, std::shared_ptr<std::int64_t> now,
                   std::shared_ptr<record::Recorder> recorder)
    : path_(std::move(path)),
      now_(std::move(now)),
      recorder_(std::move(recorder)),
      limit_(kMostCache) {}

PastFile::~PastFile() { (void)recorder_->close(); }

void PastFile::offer(const Channel& channel, const TypeId& type, const Policy& policy,
                     const google::protobuf::DescriptorPool& types) {
  if (ids_.contains(channel.id)) return;
  const bool protobuf =
      channel.encoding == Encoding::protobuf || channel.encoding == Encoding::attached;
  record::ChannelSpec spec;
  spec.name = channel.name;
  spec.message_encoding =
      protobuf ? "protobuf" : "hyphos." + std::string(to_string(channel.encoding));
  spec.schema = schema_of(channel, types);
  spec.metadata = {{"hyphos.type", channel.type},
                   {"hyphos.encoding", std::string(to_string(channel.encoding))},
                   {"hyphos.type_hash", hex(type.hash)},
                   {"hyphos.policy", policy_text(policy)}};
  const auto added = recorder_->add_channel(std::move(spec));
  if (!added) {
    problem_ = added.error().to_string();
    return;
  }
  ids_[channel.id] = *added;
  channels_[{channel.name, channel.type}] = channel.id;
}

void PastFile::add(const Sample& sample) {
  const auto id = ids_.find(sample.channel);
  if (id == ids_.end()) return;
  if (begin_ns_ == 0) begin_ns_ = sample.time_ns;
  *now_ = sample.time_ns;
  recorder_->accept(id->second, sample.sender, sample.sequence,
                    sample.publish_ns != 0 ? sample.publish_ns : sample.time_ns, sample.payload,
                    sample.buffers);
}

Result<void> PastFile::read() {
  (void)recorder_->flush();  // a full disk is in problem(), and the written part is read
  if (reader_ == nullptr) {
    OpenOptions options;
    options.growing = true;
    options.memory_bytes = limit_;
    auto opened = open_recording(path_, options);
    if (!opened) return opened.error();
    reader_ = std::move(*opened);
    reader_->select(selected_);
  } else {
    (void)reader_->refresh();
  }
  return success();
}

Result<void> PastFile::pass(std::int64_t time_ns, const Lookback& history,
                            const std::set<std::string>& channels, Sink& sink) {
  if (auto ready = read(); !ready) return ready;
  if (selected_ != channels) {
    selected_ = channels;
    reader_->select(selected_);
  }
  std::vector<std::uint32_t> ids;
  for (const Channel& each : reader_->channels()) {
    const auto found = channels_.find({each.name, each.type});
    ids.push_back(found == channels_.end() ? 0 : found->second);
  }
  FromFile to(ids, sink);
  return reader_->seek(time_ns, history, to);
}

std::int64_t PastFile::step(std::int64_t time_ns, int step, const std::set<std::string>& channels) {
  if (auto ready = read(); !ready) return time_ns;
  if (selected_ != channels) {
    selected_ = channels;
    reader_->select(selected_);
  }
  return reader_->step(time_ns, step);
}

std::string PastFile::problem() {
  const std::int64_t now = monotonic_now().ns;
  if (looked_ns_ != 0 && now - looked_ns_ < kLookPeriod) return problem_;
  looked_ns_ = now;
  const record::Status status = recorder_->status();
  if (status.failure) {
    problem_ = status.failure->to_string() + ". The past is kept in memory only";
    return problem_;
  }
  std::uint64_t dropped = 0;
  for (const auto& [name, tally] : status.channels) dropped += tally.drop_queue;
  if (dropped != 0) {
    problem_ = path_ + ": the disk is too slow, " + std::to_string(dropped) +
               " messages are not in the file";
  }
  return problem_;
}

std::size_t PastFile::memory() const { return reader_ == nullptr ? 0 : reader_->memory(); }

void PastFile::limit_memory(std::size_t bytes) {
  limit_ = std::min(bytes, kMostCache);
  if (reader_ != nullptr) reader_->limit_memory(limit_);
}

}  // namespace hyphos::view
