#include "lab/graph/synthetic.hpp"

#include <algorithm>
#include <cstring>

#include "lab/common/clock.hpp"

namespace hyphos::lab::graph {
namespace {

/// A source so late does not go on: nothing new would be learnt.
constexpr std::int64_t kGiveUpNs = 1'000'000'000;
constexpr double kWarmupHz = 20;

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
      sheet_(options.sheet_fd, ends_, false) {
  use_precise_timers();
  for (const std::string& name : plan_.process(options.process)->nodes) {
    nodes_.push_back(runtime_.node(name).or_throw());
    for (std::size_t i = 0; i < ends_.sources.size(); ++i) {
      if (ends_.sources[i].node == name) open_source(nodes_.back(), i);
    }
  }
  // Only now: a callback answers through publishers that all stand.
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
  // Sources share the period out among them: their messages do not come all at once.
  source->phase = static_cast<double>(index) / static_cast<double>(ends_.sources.size());
  sources_.emplace_back(std::string(node.name()), std::move(source));
}

void Synthetic::open_flow(const Node& node, std::size_t index) {
  const ChannelPlan& channel = *ends_.flows[index].channel;
  std::vector<Source*> answers;
  for (const auto& [name, source] : sources_) {
    if (name == node.name() && source->load->after == channel.name) answers.push_back(source.get());
  }
  const double work_us = plan_.node(node.name())->load.work_us_for(channel.name);
  const auto work_ns = static_cast<std::int64_t>(work_us * 1e3);
  node.subscribe<Buffer>(
      channel.name, serial,
      [this, &flow = sheet_.flow(index), work_ns, answers = std::move(answers)](
          const Message<Buffer>& message) { on_message(*message, flow, work_ns, answers); });
}

void Synthetic::on_message(const Buffer& message, Sheet::Flow& flow, std::int64_t work_ns,
                           const std::vector<Source*>& answers) {
  const std::int64_t now = now_ns();
  Header header;
  if (message.size() < sizeof header) return;
  std::memcpy(&header, message.data(), sizeof header);
  if (header.measured == 0) {
    flow.warm.fetch_add(1, std::memory_order_relaxed);
    for (Source* answer : answers) send(*answer, header.due_ns, false);
    return;
  }
  flow.transit.record(now - header.stamp_ns);
  flow.late[header.due_ns < sheet_.head().middle_ns.load(std::memory_order_relaxed) ? 0 : 1].record(
      now - header.due_ns);
  flow.received.fetch_add(1, std::memory_order_relaxed);
  compute(work_ns);
  for (Source* answer : answers) {
    if (answer->heard.fetch_add(1, std::memory_order_relaxed) % answer->load->every == 0) {
      send(*answer, header.due_ns, true);
    }
  }
}

void Synthetic::send(Source& source, std::int64_t due_ns, bool measured) const {
  if (measured) compute(static_cast<std::int64_t>(source.load->work_us * 1e3));
  WritableBuffer memory = source.publisher.loan_bytes(source.size);
  const Header header{due_ns, now_ns(), measured ? 1u : 0u};
  std::memcpy(memory.data(), &header, sizeof header);
  const Published published = source.publisher.publish(std::move(memory).freeze());
  if (!measured) return;
  auto& count = published ? source.row->sent : source.row->refused;
  count.fetch_add(1, std::memory_order_relaxed);
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
  const auto period = static_cast<std::int64_t>(1e9 / std::min(source.rate_hz, kWarmupHz));
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
  source.row->planned.store(count);
  std::int64_t worst = 0;
  for (std::int64_t i = 0; i < count && !sheet_.phase().reached(kStopping); ++i) {
    const std::int64_t due = begin + static_cast<std::int64_t>(static_cast<double>(i) * period);
    const std::int64_t now = now_ns();
    if (now < due) sleep_until(due);
    worst = std::max(worst, now - due);
    if (now - due > kGiveUpNs) break;
    send(source, due, true);
  }
  source.row->worst_late_ns.store(worst);
  source.row->done.store(1);
}

}  // namespace hyphos::lab::graph
