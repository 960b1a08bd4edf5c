#include "param_values.hpp"

#include <nanobind/stl/string.h>

namespace hyphos::python {
namespace {

constexpr auto kTypes = static_cast<std::size_t>(ParamType::texts) + 1;

template <typename T>
nb::object list_of(const std::vector<T>& items) {
  nb::list list;
  for (const auto& item : items) list.append(nb::cast(static_cast<T>(item)));
  return list;
}

nb::object object_of(bool value) { return nb::bool_(value); }
nb::object object_of(std::int64_t value) { return nb::int_(value); }
nb::object object_of(double value) { return nb::float_(value); }
nb::object object_of(const std::string& value) { return nb::str(value.c_str(), value.size()); }
nb::object object_of(const ParamBytes& value) { return nb::bytes(value.data(), value.size()); }
template <typename T>
nb::object object_of(const std::vector<T>& value) {
  return list_of(value);
}

std::int64_t whole(nb::handle value) {
  const auto number = PyLong_AsLongLong(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return number;
}

[[noreturn]] void refuse(nb::handle value) {
  throw nb::type_error(
      (std::string("a parameter must be a bool, int, float, str, bytes or a list of one of the "
                   "first four, not ") +
       nb::type_name(value.type()).c_str())
          .c_str());
}

template <typename T>
std::vector<T> items_of(const std::vector<ParamVariant>& items, nb::handle list) {
  std::vector<T> out;
  for (const ParamVariant& item : items) {
    if (const T* same = std::get_if<T>(&item)) {
      out.push_back(*same);
      continue;
    }
    if constexpr (std::is_same_v<T, double>) {
      if (const auto* number = std::get_if<std::int64_t>(&item)) {
        out.push_back(static_cast<double>(*number));
        continue;
      }
    }
    throw nb::type_error(
        ("the items of a list must have one type: " + std::string(nb::repr(list).c_str())).c_str());
  }
  return out;
}

bool is_date(nb::handle value) {
  const nb::object kind = nb::getattr(nb::getattr(value, "dtype", nb::none()), "kind", nb::none());
  if (!nb::isinstance<nb::str>(kind)) return false;
  const auto letter = nb::cast<std::string>(kind);
  return letter == "M" || letter == "m";
}

ParamVariant list_to_param(nb::handle list) {
  std::vector<ParamVariant> items;
  bool real = false;
  for (const nb::handle item : nb::borrow<nb::object>(list)) {
    items.push_back(to_param(item));
    if (type_of(items.back()) > ParamType::text) refuse(item);
    real = real || type_of(items.back()) == ParamType::real;
  }
  if (items.empty()) return std::vector<double>();  // an empty list fits every list type
  if (real) return items_of<double>(items, list);
  switch (type_of(items.front())) {
    case ParamType::boolean:
      return items_of<bool>(items, list);
    case ParamType::integer:
      return items_of<std::int64_t>(items, list);
    default:
      return items_of<std::string>(items, list);
  }
}

}  // namespace

nb::object to_python(const ParamVariant& value) {
  return std::visit([](const auto& one) { return object_of(one); }, value);
}

ParamVariant to_param(nb::handle value) {
  PyObject* object = value.ptr();
  if (PyBool_Check(object) != 0) return object == Py_True;
  if (PyLong_Check(object) != 0) return whole(value);
  if (PyFloat_Check(object) != 0) return PyFloat_AsDouble(object);
  if (PyUnicode_Check(object) != 0) return nb::cast<std::string>(value);
  if (PyBytes_Check(object) != 0) {
    const auto* data = reinterpret_cast<const std::byte*>(PyBytes_AsString(object));
    return ParamBytes(data, data + PyBytes_Size(object));
  }
  if (PyList_Check(object) != 0 || PyTuple_Check(object) != 0) return list_to_param(value);
  // NumPy scalars and arrays become Python objects. Dates are excluded: they would become numbers.
  if (nb::hasattr(value, "tolist") && !is_date(value)) {
    const nb::object plain = value.attr("tolist")();
    if (!plain.type().is(value.type())) return to_param(plain);
  }
  refuse(value);
}

ParamType parse_param_type(const std::string& word) {
  for (std::size_t i = 0; i < kTypes; ++i) {
    if (word == to_string(static_cast<ParamType>(i))) return static_cast<ParamType>(i);
  }
  throw nb::value_error(("unknown parameter type '" + word + "'").c_str());
}

std::vector<ParamAssignment> to_assignments(
    const std::vector<std::pair<std::string, nb::object>>& values) {
  std::vector<ParamAssignment> out;
  for (const auto& [name, value] : values) out.push_back({name, to_param(value)});
  return out;
}

}  // namespace hyphos::python
