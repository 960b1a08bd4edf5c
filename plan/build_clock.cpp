#include <cmath>
#include <string>
#include <utility>

#include "plan/build.hpp"

namespace hyphos::plan {
namespace {

constexpr double kMaxSpeed = 1000;  // the maximum in a message of simulated time

double read_speed(const Section& section) {
  const Value* value = section.find("speed");
  if (value == nullptr || value->is(Value::Kind::null)) return 1;
  if (double speed = 0; read_real(*value, speed) && speed > 0 && speed <= kMaxSpeed) return speed;
  section.error("speed",
                "expected a number above 0, at most 1000 (seconds of simulated time in one "
                "real second), found " +
                    describe(*value));
  return 1;
}

/// Ensures a channel that simulated time needs: as declared in the plan, else a new one.
void need_channel(const std::string& name, const std::string& type, Reach reach, bool latched,
                  const Source& source, Draft& draft) {
  if (ChannelPlan* declared = draft.channel(name)) {
    if (declared->type.empty()) declared->type = type;
    if (declared->type != type) {
      draft.error(source, "clock: channel '" + name + "' has type '" + declared->type + "' at " +
                              declared->source.to_string() + ", but simulated time is " + type +
                              ". Give the clock another channel");
    }
    declared->policy.latched = declared->policy.latched || latched;
    return;
  }
  ChannelPlan channel;
  channel.name = name;
  channel.type = type;
  channel.reach = reach;
  if (reach != Reach::local) channel.transport = draft.transport;
  channel.policy.latched = latched;
  channel.source = to_line(source);
  draft.add_channel(std::move(channel));
}

}  // namespace

void read_clock(const Value* value, Draft& draft) {
  if (value == nullptr || value->is(Value::Kind::null)) return;
  ClockPlan& clock = draft.plan.clock;
  clock.source = to_line(value->source);
  // `clock: sim` is short for `clock: {mode: sim}`.
  Value whole;
  if (value->is(Value::Kind::scalar)) {
    whole.kind = Value::Kind::map;
    whole.source = value->source;
    whole.entries.push_back({"mode", value->source, *value});
    value = &whole;
  }
  const Section section(value, "clock", draft.problems, {"mode", "channel", "speed"});
  clock.mode =
      section.choice("mode", ClockMode::real, {{"real", ClockMode::real}, {"sim", ClockMode::sim}});
  clock.channel = section.text("channel", clock.channel);
  clock.speed = read_speed(section);
  if (const std::string why = channel_name_problem(clock.channel); !why.empty()) {
    section.error("channel", "'" + clock.channel + "': " + why);
    return;
  }
  if (clock.mode == ClockMode::real) {
    for (const char* key : {"channel", "speed"}) {
      if (section.has(key)) {
        section.error(key, "has no effect with mode real. Remove it, or write mode: sim");
      }
    }
    return;
  }
  const Source place = section.has("channel") ? section.at("channel") : value->source;
  need_channel(clock.channel, "hyphos.msgs.Clock", Reach::network, true, place, draft);
  // For the tools and the simulator of one machine.
  need_channel(clock.channel + "/control", "hyphos.msgs.ClockCommand", Reach::machine, false, place,
               draft);
  need_channel(clock.channel + "/answer", "hyphos.msgs.Clock", Reach::machine, true, place, draft);
}

}  // namespace hyphos::plan
