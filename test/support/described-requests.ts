import { apiDocument, type DescribedOperation } from './api-contract.js';

/** An operation of the OpenAPI document, with its path and method. */
export interface Operation extends DescribedOperation {
  readonly method: string;
  readonly path: string;
  /** Names of its path parameters, in order. */
  readonly ids: readonly string[];
}

/** Every described operation. A test in apps/api compares them with the served ones. */
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

/** Resolves a reference to a component; returns any other part itself. */
export const resolved = (part: Schema): Schema => {
  const reference = part['$ref'];
  if (typeof reference !== 'string') return part;
  const found = reference
    .split('/')
    .slice(1)
    .reduce<unknown>((inside, step) => (inside as Schema)[step], apiDocument);
  return resolved(found as Schema);
};

/** The example of a schema, or one composed of its members' examples. */
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

/** A request as described, with these ids, its required parameters and its example body. */
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
