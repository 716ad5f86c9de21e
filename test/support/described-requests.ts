import { apiDocument, type DescribedOperation } from './api-contract.js';

/** An operation of the OpenAPI document, with its place. */
export interface Operation extends DescribedOperation {
  readonly method: string;
  readonly path: string;
  /** Names of its path parameters, in their order. */
  readonly ids: readonly string[];
}

/** Every operation that is described; a test in apps/api holds them to those that are served. */
export const operations: readonly Operation[] = Object.entries(apiDocument.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    ...operation,
    method: method.toUpperCase(),
    path,
    ids: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
  })),
);

export const accepts = ({ security }: Operation, mode: 'apiKey' | 'bearer'): boolean =>
  security.some((requirement) => mode in requirement);

type Schema = Readonly<Record<string, unknown>>;

/** A component that is referred to, or the part itself. */
export const resolved = (part: Schema): Schema => {
  const reference = part['$ref'];
  if (typeof reference !== 'string') return part;
  const found = reference
    .split('/')
    .slice(1)
    .reduce<unknown>((inside, step) => (inside as Schema)[step], apiDocument);
  return resolved(found as Schema);
};

/** The example that a schema gives, put together from its members' where it has none of its own. */
export const exampleOf = (schema: Schema): unknown => {
  const { examples, properties, allOf } = resolved(schema) as {
    examples?: unknown[];
    properties?: Record<string, Schema>;
    allOf?: Schema[];
  };
  if (examples) return examples[0];
  if (allOf?.[0]) return exampleOf(allOf[0]);
  if (!properties) return null;
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, exampleOf(member)]));
};

export interface DescribedRequest {
  readonly method: string;
  readonly target: string;
  readonly body: unknown;
}

/** A request as the document describes it: with these ids, its required parameters, and its example body. */
export const requestOf = (
  operation: Operation,
  ids: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>> = {},
): DescribedRequest => {
  const required = operation.parameters
    .map(resolved)
    .filter((one) => one['in'] === 'query' && one['required'] === true)
    .map((one) => [String(one['name']), String((one['schema'] as { enum?: unknown[] }).enum?.[0])]);
  const search = new URLSearchParams([...required, ...Object.entries(query)] as [
    string,
    string,
  ][]).toString();
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'none');
  const schema = operation.requestBody?.content['application/json']?.schema;
  return {
    method: operation.method,
    target: search === '' ? path : `${path}?${search}`,
    body: schema && exampleOf(schema),
  };
};
