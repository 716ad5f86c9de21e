type Json = Record<string, unknown>;

/** Members that hold values, not schemas: what looks like a keyword inside them is data. */
const VALUES = new Set(['const', 'default', 'enum', 'example', 'examples']);
/** Members that hold schemas by names of their own. */
const BY_NAME = new Set(['properties', 'patternProperties', 'schemas']);

/**
 * The same document in keywords that code generators and validating proxies know. A constant becomes an enumeration of
 * one value, each enumeration names its type, and a tuple also has `items`, which its `maxItems` leaves without effect.
 */
export const plainSchemas = <T>(document: T): T => plain(document, false) as T;

const plain = (part: unknown, isByName: boolean): unknown => {
  if (Array.isArray(part)) return part.map((one) => plain(one, false));
  if (typeof part !== 'object' || part === null) return part;
  const inside = Object.fromEntries(
    Object.entries(part).map(([name, inner]) => [
      name,
      !isByName && VALUES.has(name) ? inner : plain(inner, !isByName && BY_NAME.has(name)),
    ]),
  );
  return isByName ? inside : withItems(withType(withoutConstant(inside)));
};

const withoutConstant = (schema: Json): Json => {
  const { const: value, ...others } = schema;
  return 'const' in schema ? { enum: [value], ...others } : schema;
};

const withType = (schema: Json): Json => {
  if (!Array.isArray(schema['enum']) || 'type' in schema) return schema;
  const types = [...new Set(schema['enum'].map(typeOf))];
  return { type: types.length === 1 ? types[0] : types, ...schema };
};

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Number.isInteger(value) ? 'integer' : typeof value;

const withItems = (schema: Json): Json => {
  const { prefixItems, items } = schema;
  if (!Array.isArray(prefixItems) || items !== undefined) return schema;
  return { ...schema, items: { anyOf: prefixItems } };
};
