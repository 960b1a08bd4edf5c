// Decodes messages by the schema that the server advertises. Nothing generates code at run time.
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const utf8 = new TextDecoder();
const MOST_DEPTH = 8; // of nested messages in a list of fields

function fromBase64(text) {
  const bytes = atob(text);
  return Uint8Array.from(bytes, (letter) => letter.charCodeAt(0));
}

// {decode(bytes), type} of a channel. Throws an error with the reason if it cannot be decoded.
export function decoderOf(channel) {
  if (channel.encoding === "json") {
    return { decode: (data) => JSON.parse(utf8.decode(data)), type: null };
  }
  if (channel.encoding !== "protobuf" || (channel.schemaEncoding ?? "protobuf") !== "protobuf") {
    throw new Error(`this page cannot read the encoding '${channel.encoding}'`);
  }
  const files = createFileRegistry(fromBinary(FileDescriptorSetSchema, fromBase64(channel.schema)));
  const type = files.getMessage(channel.schemaName);
  if (!type) throw new Error(`the schema lacks its type ${channel.schemaName}`);
  return { decode: (data) => fromBinary(type, data), type };
}

const NUMERIC = new Set([1, 2, 3, 4, 5, 6, 7, 8, 13, 15, 16, 17, 18]); // scalar types, bool too

// The dotted paths of all numeric fields that are no element of a list.
export function numericFields(type, prefix = "", depth = 0) {
  const found = [];
  if (!type || depth > MOST_DEPTH) return found;
  for (const field of type.fields) {
    const path = prefix + field.name;
    if (field.fieldKind === "scalar" && NUMERIC.has(field.scalar)) found.push(path);
    else if (field.fieldKind === "enum") found.push(path);
    else if (field.fieldKind === "message" && field.message !== type) {
      found.push(...numericFields(field.message, `${path}.`, depth + 1));
    }
  }
  return found;
}
