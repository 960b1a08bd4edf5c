#include "view/panels/message_form.hpp"

#include <google/protobuf/descriptor.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cfloat>
#include <string>

#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr int kMostElements = 256;
constexpr int kMostDepth = 12;

void edit_fields(const Theme& theme, Message& message, int depth);

/// Edits a number of one type. `index` below 0: the field is not repeated.
template <typename T, typename Get, typename Set>
void edit_number(ImGuiDataType type, const char* format, Get get, Set set) {
  T value = get();
  if (ImGui::InputScalar("##value", type, &value, nullptr, nullptr, format)) set(value);
}

void edit_enum(Message& message, const FieldDescriptor& field, int index) {
  const Reflection& access = *message.GetReflection();
  const auto* now =
      index < 0 ? access.GetEnum(message, &field) : access.GetRepeatedEnum(message, &field, index);
  if (!ImGui::BeginCombo("##value", now->name().c_str())) return;
  for (int i = 0; i < field.enum_type()->value_count(); ++i) {
    const auto* one = field.enum_type()->value(i);
    if (!ImGui::Selectable(one->name().c_str(), one == now)) continue;
    if (index < 0) {
      access.SetEnum(&message, &field, one);
    } else {
      access.SetRepeatedEnum(&message, &field, index, one);
    }
  }
  ImGui::EndCombo();
}

/// One value, alone or an element of a list.
void edit_value(const Theme& theme, Message& message, const FieldDescriptor& field, int index,
                int depth) {
  const Reflection& access = *message.GetReflection();
  const auto number = [&](auto single_get, auto single_set, auto list_get, auto list_set,
                          ImGuiDataType type, const char* format, auto zero) {
    edit_number<decltype(zero)>(
        type, format,
        [&] {
          return index < 0 ? (access.*single_get)(message, &field)
                           : (access.*list_get)(message, &field, index);
        },
        [&](decltype(zero) value) {
          if (index < 0) {
            (access.*single_set)(&message, &field, value);
          } else {
            (access.*list_set)(&message, &field, index, value);
          }
        });
  };
  ImGui::SetNextItemWidth(-FLT_MIN);
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return number(&Reflection::GetInt32, &Reflection::SetInt32, &Reflection::GetRepeatedInt32,
                    &Reflection::SetRepeatedInt32, ImGuiDataType_S32, "%d", std::int32_t{});
    case FieldDescriptor::CPPTYPE_INT64:
      return number(&Reflection::GetInt64, &Reflection::SetInt64, &Reflection::GetRepeatedInt64,
                    &Reflection::SetRepeatedInt64, ImGuiDataType_S64, "%lld", std::int64_t{});
    case FieldDescriptor::CPPTYPE_UINT32:
      return number(&Reflection::GetUInt32, &Reflection::SetUInt32, &Reflection::GetRepeatedUInt32,
                    &Reflection::SetRepeatedUInt32, ImGuiDataType_U32, "%u", std::uint32_t{});
    case FieldDescriptor::CPPTYPE_UINT64:
      return number(&Reflection::GetUInt64, &Reflection::SetUInt64, &Reflection::GetRepeatedUInt64,
                    &Reflection::SetRepeatedUInt64, ImGuiDataType_U64, "%llu", std::uint64_t{});
    case FieldDescriptor::CPPTYPE_FLOAT:
      return number(&Reflection::GetFloat, &Reflection::SetFloat, &Reflection::GetRepeatedFloat,
                    &Reflection::SetRepeatedFloat, ImGuiDataType_Float, "%.7g", float{});
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return number(&Reflection::GetDouble, &Reflection::SetDouble, &Reflection::GetRepeatedDouble,
                    &Reflection::SetRepeatedDouble, ImGuiDataType_Double, "%.10g", double{});
    case FieldDescriptor::CPPTYPE_BOOL: {
      bool value = index < 0 ? access.GetBool(message, &field)
                             : access.GetRepeatedBool(message, &field, index);
      if (!ImGui::Checkbox("##value", &value)) return;
      if (index < 0) return access.SetBool(&message, &field, value);
      return access.SetRepeatedBool(&message, &field, index, value);
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      std::string value = index < 0 ? access.GetString(message, &field)
                                    : access.GetRepeatedString(message, &field, index);
      if (!ImGui::InputText("##value", &value)) return;
      if (index < 0) return access.SetString(&message, &field, value);
      return access.SetRepeatedString(&message, &field, index, value);
    }
    case FieldDescriptor::CPPTYPE_ENUM:
      return edit_enum(message, field, index);
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      Message& part = index < 0 ? *access.MutableMessage(&message, &field)
                                : *access.MutableRepeatedMessage(&message, &field, index);
      return edit_fields(theme, part, depth + 1);
    }
  }
}

void add_element(Message& message, const FieldDescriptor& field) {
  const Reflection& access = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return access.AddInt32(&message, &field, 0);
    case FieldDescriptor::CPPTYPE_INT64:
      return access.AddInt64(&message, &field, 0);
    case FieldDescriptor::CPPTYPE_UINT32:
      return access.AddUInt32(&message, &field, 0);
    case FieldDescriptor::CPPTYPE_UINT64:
      return access.AddUInt64(&message, &field, 0);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return access.AddFloat(&message, &field, 0);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return access.AddDouble(&message, &field, 0);
    case FieldDescriptor::CPPTYPE_BOOL:
      return access.AddBool(&message, &field, false);
    case FieldDescriptor::CPPTYPE_STRING:
      return access.AddString(&message, &field, "");
    case FieldDescriptor::CPPTYPE_ENUM:
      return access.AddEnum(&message, &field, field.enum_type()->value(0));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      access.AddMessage(&message, &field);
      return;
  }
}

void edit_list(const Theme& theme, Message& message, const FieldDescriptor& field, int depth) {
  const Reflection& access = *message.GetReflection();
  const int size = access.FieldSize(message, &field);
  for (int i = 0; i < std::min(size, kMostElements); ++i) {
    ImGui::PushID(i);
    ImGui::AlignTextToFramePadding();
    dim_text(theme, "[" + std::to_string(i) + "]");
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      ImGui::SameLine(ImGui::GetWindowWidth() * 0.42F);
    }
    edit_value(theme, message, field, i, depth);
    ImGui::PopID();
  }
  if (size < kMostElements && ImGui::SmallButton("add")) add_element(message, field);
  if (size > 0) {
    ImGui::SameLine();
    if (ImGui::SmallButton("remove the last")) access.RemoveLast(&message, &field);
  }
}

void edit_fields(const Theme& theme, Message& message, int depth) {
  if (depth > kMostDepth) return;
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    ImGui::PushID(i);
    const bool nested = field.is_repeated() || field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (nested) {
      const int flags = depth < 2 && !field.is_repeated() ? ImGuiTreeNodeFlags_DefaultOpen : 0;
      if (ImGui::TreeNodeEx(field.name().c_str(), flags | ImGuiTreeNodeFlags_SpanAvailWidth)) {
        if (field.is_map()) {
          dim_text(theme, "a map cannot be edited here");
        } else if (field.is_repeated()) {
          edit_list(theme, message, field, depth);
        } else {
          edit_value(theme, message, field, -1, depth);
        }
        ImGui::TreePop();
      }
    } else {
      ImGui::AlignTextToFramePadding();
      dim_text(theme, field.name());
      ImGui::SameLine(ImGui::GetWindowWidth() * 0.42F);
      edit_value(theme, message, field, -1, depth);
    }
    ImGui::PopID();
  }
}

}  // namespace

void edit_message(const Theme& theme, Message& message) {
  if (message.GetDescriptor()->field_count() == 0) return dim_text(theme, "no fields");
  edit_fields(theme, message, 0);
}

}  // namespace hyphos::view
