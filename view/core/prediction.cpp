#include "view/core/prediction.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>

namespace hyphos::view {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

Error no_answer(const std::string& why) {
  return {Code::corrupt, "not an answer of `hyphos plan check PLAN --json`: " + why, {}};
}

const Value* member_of(const Struct& object, const char* key) {
  const auto found = object.fields().find(key);
  return found == object.fields().end() ? nullptr : &found->second;
}

/// A number that is at least 0. An endless saturation point is null.
std::optional<double> share_number(const Struct& object, const char* key) {
  const Value* const value = member_of(object, key);
  if (value == nullptr) return std::nullopt;
  if (value->has_null_value()) return INFINITY;
  if (!value->has_number_value() || !(value->number_value() >= 0)) return std::nullopt;
  return value->number_value();
}

std::string text_at(const Struct& object, const char* key) {
  const Value* const value = member_of(object, key);
  return value != nullptr && value->has_string_value() ? value->string_value() : std::string();
}

/// False if a part has no share.
bool take_part(const Struct& part, Prediction& out) {
  const std::string kind = text_at(part, "kind");
  const auto share = share_number(part, "share");
  if (!share) return false;
  const Prediction::Subscription end{text_at(part, "node"), text_at(part, "channel")};
  if (kind == "process") out.processes[text_at(part, "process")] = *share;
  if (kind == "callback") out.callbacks[end] = *share;
  if (kind == "queue") out.queues[end] = *share;
  return true;
}

template <typename Map, typename Key>
std::optional<double> share_of(const Map& map, const Key& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return found->second;
}

}  // namespace

const Prediction::Flow* Prediction::channel(std::string_view name) const {
  const auto found = channels.find(name);
  return found == channels.end() ? nullptr : &found->second;
}

std::optional<double> Prediction::process(std::string_view name) const {
  return share_of(processes, name);
}
std::optional<double> Prediction::callback(const Subscription& end) const {
  return share_of(callbacks, end);
}
std::optional<double> Prediction::queue(const Subscription& end) const {
  return share_of(queues, end);
}

std::optional<double> Prediction::node(std::string_view name, std::string_view in) const {
  std::optional<double> most = process(in);
  for (const auto* shares : {&callbacks, &queues}) {
    for (const auto& [end, share] : *shares) {
      if (end.first == name) most = std::max(most.value_or(0), share);
    }
  }
  return most;
}

std::string_view to_string(Prediction::Verdict verdict) {
  switch (verdict) {
    case Prediction::Verdict::fits:
      return "fits";
    case Prediction::Verdict::marginal:
      return "marginal";
    case Prediction::Verdict::does_not_fit:
      break;
  }
  return "does not fit";
}

Result<Prediction> parse_prediction(std::string_view json) {
  if (json.find_first_not_of(" \t\r\n") == std::string_view::npos) return no_answer("it is empty");
  if (json.size() > kMaxPrediction) return no_answer("it has more than 8 MiB");
  Struct root;
  if (!google::protobuf::util::JsonStringToMessage(std::string(json), &root).ok()) {
    return no_answer("it is no JSON object");
  }
  Prediction out;
  const std::string verdict = text_at(root, "verdict");
  const auto same = [&](Prediction::Verdict one) { return to_string(one) == verdict; };
  using enum Prediction::Verdict;
  const std::initializer_list<Prediction::Verdict> all = {fits, marginal, does_not_fit};
  const auto* const known = std::ranges::find_if(all, same);
  if (known == all.end()) return no_answer("the key 'verdict' is missing or unknown");
  out.verdict = *known;
  for (const auto& [key, target] :
       {std::pair{"knee", &out.knee}, {"knee_low", &out.knee_low}, {"knee_high", &out.knee_high}}) {
    const auto value = share_number(root, key);
    if (!value) return no_answer("the key '" + std::string(key) + "' is missing or no number");
    *target = *value;
  }
  out.first_to_break = text_at(root, "first_to_break");
  const Value* const channels = member_of(root, "channels");
  const Value* const parts = member_of(root, "parts");
  if (channels == nullptr || !channels->has_struct_value() || parts == nullptr ||
      !parts->has_list_value()) {
    return no_answer(
        "the keys 'channels' and 'parts' are missing. Use one version of both programs");
  }
  for (const auto& [name, value] : channels->struct_value().fields()) {
    const auto rate = share_number(value.struct_value(), "rate_hz");
    const auto bytes = share_number(value.struct_value(), "bytes_per_s");
    if (!rate || !bytes)
      return no_answer("the channel '" + name + "' has no rate_hz or bytes_per_s");
    out.channels[name] = {*rate, *bytes};
  }
  for (const Value& part : parts->list_value().values()) {
    if (!take_part(part.struct_value(), out)) return no_answer("a part has no share");
  }
  return out;
}

}  // namespace hyphos::view
