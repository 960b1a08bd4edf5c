#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <array>
#include <exception>
#include <string>
#include <utility>

#include "base/crash.hpp"
#include "bindings.hpp"
#include "bytes.hpp"
#include "hyphos/result.hpp"

namespace nb = nanobind;

namespace hyphos::python {
namespace {

template <typename T, std::size_t N>
T parse_word(const std::string& what, const std::string& word,
             const std::array<std::pair<const char*, T>, N>& words) {
  std::string right;
  for (const auto& [name, value] : words) {
    if (word == name) return value;
    right += right.empty() ? "'" : ", '";
    right += std::string(name) + "'";
  }
  throw nb::value_error(("unknown " + what + " '" + word + "': give one of " + right).c_str());
}

void translate(const std::exception_ptr& pointer, void* /*unused*/) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Exception& exception) {
    const Error& error = exception.error();
    const nb::object type = nb::module_::import_("hyphos._errors").attr("Error");
    const nb::object value = type(std::string(to_string(error.code)), error.message, error.where,
                                  std::string(advice(error.code)));
    PyErr_SetObject(type.ptr(), value.ptr());
  }
}

}  // namespace

Mode parse_mode(const std::string& word) {
  return parse_word<Mode, 3>(
      "mode", word,
      {{{"serial", Mode::serial}, {"concurrent", Mode::concurrent}, {"inline", Mode::inline_}}});
}

Where parse_where(const std::string& word) {
  return parse_word<Where, 4>("where", word,
                              {{{"nowhere", Where::nowhere},
                                {"inside", Where::inside},
                                {"outside", Where::outside},
                                {"both", Where::both}}});
}

Encoding parse_encoding(const std::string& word) {
  return parse_word<Encoding, 6>("encoding", word,
                                 {{{"struct", Encoding::structure},
                                   {"bytes", Encoding::bytes},
                                   {"protobuf", Encoding::protobuf},
                                   {"attached", Encoding::attached},
                                   {"custom", Encoding::custom},
                                   {"none", Encoding::none}}});
}

Policy make_policy(const std::string& reliability, const std::string& overflow,
                   const std::string& priority) {
  Policy policy =
      parse_word<Reliability, 2>("reliability", reliability,
                                 {{{"best_effort", Reliability::best_effort},
                                   {"reliable", Reliability::reliable}}}) == Reliability::reliable
          ? reliable_policy()
          : Policy{};
  if (!overflow.empty()) {
    policy.overflow = parse_word<Overflow, 3>("overflow", overflow,
                                              {{{"drop_oldest", Overflow::drop_oldest},
                                                {"drop_newest", Overflow::drop_newest},
                                                {"block", Overflow::block}}});
  }
  policy.priority = parse_word<Priority, 3>(
      "priority", priority,
      {{{"low", Priority::low}, {"normal", Priority::normal}, {"high", Priority::high}}});
  return policy;
}

}  // namespace hyphos::python

NB_MODULE(_hyphos, module) {
  using namespace hyphos::python;
  module.doc() = "The C++ core of hyphos. Use the package `hyphos`.";
  nb::register_exception_translator(&translate);
  module.def(
      "report_crashes",
      [](const std::string& process) {
        hyphos::crash::install(process, hyphos::crash::Others::follow);
      },
      nb::arg("process"));
  bind_bytes(module);
  bind_clock(module);
  bind_params(module);
  bind_shared_params(module);
  bind_nodes(module);
  bind_tools(module);
  bind_transforms(module);
  bind_recording(module);
#ifdef HYPHOS_WITH_GATEWAY
  bind_convert(module);
#endif
#ifdef HYPHOS_WITH_COSIM
  bind_cosim(module);
#endif
}
