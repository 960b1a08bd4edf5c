// External parameters: the message of a node, a request, a value as YAML. Accepted input must
// respect the limits, and survive a round trip.
#include <google/protobuf/message_lite.h>

#include <cstdlib>
#include <span>
#include <string_view>

#include "node/params/param_rules.hpp"
#include "node/params/param_wire.hpp"

using namespace hyphos;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void try_set(std::string_view bytes) {
  params::v1::NodeParams message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  const auto set = params::decode(message);
  if (!set) return;
  require(set->size() <= kMaxParams);
  const auto again = params::decode(params::encode({"n", "p", 1}, *set, {}));
  require(again.ok() && again->size() == set->size());
  for (const auto& info : set->infos()) {
    (void)info->allowed();
    (void)to_yaml(info->value);
    require(set->find(info->name) == info.get());
  }
}

void try_request(std::string_view bytes) {
  params::v1::SetParams message;
  if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    (void)params::decode(message);
  }
}

void try_text(ParamType type, std::string_view text) {
  const auto value = parse_param(type, text);
  if (!value) return;
  require(type_of(*value) == type);
  ParamInfo info;
  info.name = "x";
  info.value = *value;
  info.standard = *value;
  if (!params::value_problem(info, *value).empty()) return;
  const auto again = parse_param(type, to_yaml(*value));
  require(again.ok() && *again == *value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const unsigned kind = data[0] % 11U;
  if (kind == 9) {
    try_set(rest);
  } else if (kind == 10) {
    try_request(rest);
  } else {
    try_text(static_cast<ParamType>(kind), rest);
  }
  return 0;
}
