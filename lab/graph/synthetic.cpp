#include "lab/graph/synthetic.hpp"

#include <algorithm>
#include <cstring>

#include "lab/common/clock.hpp"

namespace hyphos::lab::graph {
namespace {

/// A source that is this late stops, because later messages give no new information. A single run
/// has the same limits as the other workloads (lab/common/roles.hpp).
constexpr std::int64_t kGiveUpNs = 1'000'000'000;
constexpr std::int64_t kGiveUpWithFiguresNs = 5'000'000'000;
// The warm-up needs a few messages within seconds, and must not overload any channel.
constexpr double kSlowestWarmupHz = 0.5, kFastestWarmupHz = 20;

RuntimeOptions runtime_options(const Options& options) {
  RuntimeOptions how;
  how.plan_file = options.plan;
  how.process = options.process;
  how.overrides = options.overrides;
  how.domain = "lab" + std::to_string(options.run);
  return how;
}

}  // namespace

Synthetic::Synthetic(const Options& options)
    : options_(options),
      runtime_(Runtime::open(runtime_options(options)).or_throw()),
      plan_(*runtime_.plan()),
      ends_(plan_),
      sheet_(options.sheet_fd, ends_, options.figures, false) {
  use_precise_timers();
  for (const std::string& name : plan_.process(options.process)->nodes) {
    nodes_.push_back(runtime_.node(name).or_throw());
    for (std::size_t i = 0; i < ends_.sources.size(); ++i) {
      if (ends_.sources[i].node == name) open_source(nodes_.back(), i);
    }
  }
  // Subscribe last: callbacks reply through publishers, which must all exist.
  for (const Node& node : nodes_) {
    for (std::size_t i = 0; i < ends_.flows.size(); ++i) {
      if (ends_.flows[i].node == node.name()) open_flow(node, i);
    }
  }
}

Synthetic::~Synthetic() {
  players_.clear();
  for (Node& node : nodes_) node.close();
}

void Synthetic::open_source(const Node& node, std::size_t index) {
  const ChannelPlan& channel = *ends_.sources[index].channel;
  auto source = std::make_unique<Source>();
  source->load = &*channel.load;
  source->publisher = node.publisher<Buffer>(channel.name);
  source->row = &sheet_.source(index);
  source->size = std::max(static_cast<std::size_t>(channel.load->size_bytes), sizeof(Header));
  source->rate_hz = channel.load->rate_hz * options_.scale;
  // Offsets the sources within a period, so that their messages are not simultaneous.
  source->phase = static_cast<double>(index) / static_cast<double>(ends_.sources.size());
  source->number = static_cast<std::uint16_t>(index);
  sources_.emplace_back(std::string(node.name()), std::move(source));
}

void Synthetic::open_flow(const Node& node, std::size_t index) {
  const ChannelPlan& channel = *ends_.flows[index].channel;
  auto ear = std::make_unique<Ear>();
  ear->row = &sheet_.flow(index);
  const std::size_t chain = ends_.last[index];
  ear->chain = options_.figures && chain != Ends::kNone ? &sheet_.chain(chain) : nullptr;
  ear->size = std::max(static_cast<std::size_t>(channel.load->size_bytes), sizeof(Header));
  ear->work_ns =
      static_cast<std::int64_t>(plan_.node(node.name())->load.work_us_for(channel.name) * 1e3);
  ear->heard.resize(ends_.sources.size());
  for (const auto& [name, source] : sources_) {
    if (name == node.name() && source->load->after == channel.name) {
      ear->answers.push_back(source.get());
    }
  }
  node.subscribe<Buffer>(channel.name, serial, [this, &ear = *ear](const Message<Buffer>& message) {
    on_message(*message, ear);
  });
  ears_.push_back(std::move(ear));
}

void Synthetic::on_message(const Buffer& message, Ear& ear) {
  const std::int64_t now = now_ns();
  Header header;
  if (message.size() != ear.size) {
    ear.row->corrupt.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  std::memcpy(&header, message.data(), sizeof header);
  if (header.measured == 0) {
    ear.row->warm.fetch_add(1, std::memory_order_relaxed);
    for (Source* answer : ear.answers) send(*answer, header.due_ns, false, &header);
    return;
  }
  record(header, now, ear);
  compute(ear.work_ns);
  for (Source* answer : ear.answers) {
    if (answer->heard.fetch_add(1, std::memory_order_relaxed) % answer->load->every == 0) {
      send(*answer, header.due_ns, true, &header);
    }
  }
}

void Synthetic::record(const Header& header, std::int64_t now, Ear& ear) const {
  Sheet::Flow& row = *ear.row;
  row.transit.record(now - header.stamp_ns);
  const Sheet::Head& head = sheet_.head();
  row.late[late_part(header.due_ns - head.first_send_ns.load(std::memory_order_relaxed),
                     head.span_ns.load(std::memory_order_relaxed))]
      .record(now - header.due_ns);
  row.received.fetch_add(1, std::memory_order_relaxed);
  row.last_receive_ns.store(now, std::memory_order_relaxed);
  if (ear.chain != nullptr) {
    ear.chain->latency.record(now - header.first_ns);
    ear.chain->open.record(now - header.due_ns);
  }
  // The messages of a publisher arrive in order. A message out of order is a duplicate.
  if (header.source >= ear.heard.size()) return;
  std::uint32_t& heard = ear.heard[header.source];
  if (header.sequence <= heard) {
    row.duplicates.fetch_add(1, std::memory_order_relaxed);
  } else {
    heard = header.sequence;
  }
}

std::int64_t Synthetic::send(Source& source, std::int64_t due_ns, bool measured,
                             const Header* cause) const {
  if (measured) compute(static_cast<std::int64_t>(source.load->work_us * 1e3));
  const std::int64_t stamp = now_ns();
  WritableBuffer memory = source.publisher.loan_bytes(source.size);
  Header header{};
  header.due_ns = due_ns;
  header.first_ns = cause == nullptr ? stamp : cause->first_ns;
  header.stamp_ns = stamp;
  header.sequence = measured ? ++source.sequence : 0;
  header.source = source.number;
  header.measured = measured ? 1 : 0;
  std::memcpy(memory.data(), &header, sizeof header);
  const Published published = source.publisher.publish(std::move(memory).freeze());
  if (!measured) return stamp;
  if (options_.figures) source.row->cost.record(now_ns() - stamp);
  auto& count = published ? source.row->sent : source.row->refused;
  count.fetch_add(1, std::memory_order_relaxed);
  return stamp;
}

void Synthetic::run() {
  for (const auto& [name, source] : sources_) {
    if (source->rate_hz > 0) {
      players_.emplace_back([this, &source = *source] { play(source); });
    } else {
      source->row->done.store(1);
    }
  }
  sheet_.head().ready.fetch_add(1);
  sheet_.phase().await(kStopping);
}

void Synthetic::warm_up(Source& source) const {
  sheet_.phase().await(kWarmingUp);
  const double rate_hz = std::clamp(source.rate_hz, kSlowestWarmupHz, kFastestWarmupHz);
  const auto period = static_cast<std::int64_t>(1e9 / rate_hz);
  while (!sheet_.phase().reached(kWarm)) {
    send(source, now_ns(), false);
    sleep_until(now_ns() + period);
  }
  sheet_.phase().await(kMeasuring);
}

void Synthetic::play(Source& source) const {
  use_precise_timers();
  warm_up(source);
  const double period = 1e9 / source.rate_hz;
  const auto count = std::max<std::int64_t>(1, std::llround(options_.seconds * source.rate_hz));
  const std::int64_t begin =
      sheet_.head().first_send_ns.load() + static_cast<std::int64_t>(source.phase * period);
  const std::int64_t give_up = options_.figures ? kGiveUpWithFiguresNs : kGiveUpNs;
  source.row->planned.store(count);
  std::int64_t worst = 0;
  for (std::int64_t i = 0; i < count && !sheet_.phase().reached(kStopping); ++i) {
    const std::int64_t due = begin + static_cast<std::int64_t>(static_cast<double>(i) * period);
    const std::int64_t now = now_ns();
    if (now < due) sleep_until(due);
    worst = std::max(worst, now - due);
    if (now - due > give_up) break;
    const std::int64_t stamp = send(source, due, true);
    if (static_cast<double>(stamp - due) > period) source.row->late.fetch_add(1);
  }
  source.row->worst_late_ns.store(worst);
  source.row->done.store(1);
}

}  // namespace hyphos::lab::graph
