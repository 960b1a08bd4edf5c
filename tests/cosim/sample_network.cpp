/* The smallest simulator behind the C interface: every packet arrives after the delay in the
 * options, in milliseconds. Written like an external simulator: it needs only cosim_adapter.h. */
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "cosim/adapter/cosim_adapter.h"

namespace {

struct Copy {
  uint64_t id;
  uint32_t to;
  int64_t time;
  std::vector<uint8_t> bytes;
};

struct Sample {
  int64_t delay = 0;
  int64_t now = 0;
  uint32_t nodes = 0;
  std::string error;
  std::deque<Copy> air;  // in time order, because all delays are equal
  std::deque<Copy> done;
  Copy told;
};

Sample& at(void* self) { return *static_cast<Sample*>(self); }

int fail(void* self, int result, const char* why) {
  at(self).error = why;
  return result;
}

void* open(const char* options) {
  char* end = nullptr;
  const double ms = std::strtod(options, &end);
  if (end == options || *end != '\0' || !(ms >= 0)) return nullptr;
  auto* sample = new Sample;
  sample->delay = static_cast<int64_t>(ms * 1e6);
  return sample;
}

void close(void* self) { delete static_cast<Sample*>(self); }

const char* error(void* self) { return at(self).error.c_str(); }

int init(void* self, uint32_t nodes, uint64_t) {
  at(self).nodes = nodes;
  return HYPHOS_COSIM_OK;
}

int advance(void* self, int64_t end) {
  Sample& sample = at(self);
  if (end < sample.now) return fail(self, HYPHOS_COSIM_PAST, "this time is in the past");
  for (; !sample.air.empty() && sample.air.front().time < end; sample.air.pop_front()) {
    sample.done.push_back(sample.air.front());
  }
  sample.now = end;
  return HYPHOS_COSIM_OK;
}

int64_t next_event_time(void* self) {
  return at(self).air.empty() ? HYPHOS_COSIM_NEVER : at(self).air.front().time;
}

int set_poses(void*, const hyphos_cosim_pose*, uint32_t) { return HYPHOS_COSIM_OK; }

int inject(void* self, const hyphos_cosim_packet* packet) {
  Sample& sample = at(self);
  const bool everyone = packet->to == HYPHOS_COSIM_EVERYONE;
  if (packet->from >= sample.nodes || (!everyone && packet->to >= sample.nodes)) {
    return fail(self, HYPHOS_COSIM_NO_NODE, "no such node");
  }
  if (packet->stamp_ns < sample.now)
    return fail(self, HYPHOS_COSIM_PAST, "this time is in the past");
  for (uint32_t to = 0; to < sample.nodes; ++to) {
    if (to == packet->from || (!everyone && to != packet->to)) continue;
    const int64_t time = packet->stamp_ns + sample.delay;
    const auto place = std::upper_bound(sample.air.begin(), sample.air.end(), time,
                                        [](int64_t t, const Copy& copy) { return t < copy.time; });
    sample.air.insert(place, {packet->id, to, time, {packet->bytes, packet->bytes + packet->size}});
  }
  return HYPHOS_COSIM_OK;
}

int poll(void* self, hyphos_cosim_outcome* outcome) {
  Sample& sample = at(self);
  if (sample.done.empty()) return 0;
  sample.told = sample.done.front();
  sample.done.pop_front();
  *outcome = {};
  outcome->id = sample.told.id;
  outcome->to = sample.told.to;
  outcome->copies = 1;
  outcome->time_ns = sample.told.time;
  outcome->bytes = sample.told.bytes.data();
  outcome->size = sample.told.bytes.size();
  outcome->sampled_ns = HYPHOS_COSIM_NEVER;
  return 1;
}

const hyphos_cosim_simulator kSample = {HYPHOS_COSIM_ABI,
                                        HYPHOS_COSIM_NETWORK,
                                        open,
                                        close,
                                        error,
                                        init,
                                        advance,
                                        next_event_time,
                                        set_poses,
                                        inject,
                                        poll,
                                        nullptr,
                                        nullptr,
                                        nullptr,
                                        nullptr};

}  // namespace

extern "C" __attribute__((visibility("default"))) const hyphos_cosim_simulator*
hyphos_cosim_entry() {
  return &kSample;
}
