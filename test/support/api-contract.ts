import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { projectPath } from '#platform/project-path.js';

/** An answer of the API as received. */
export interface SeenAnswer {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

type Json = Record<string, unknown>;
export interface DescribedResponse {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema: Json }>>;
}
export interface DescribedOperation {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly (Json & { $ref?: string })[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { $ref: string } }>>;
  };
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly headers: Readonly<Record<string, { readonly schema: Json }>>;
    readonly parameters: Readonly<Record<string, Json>>;
    readonly responses: Readonly<Record<string, DescribedResponse>>;
  };
}

/** The committed document. */
export const apiDocument = JSON.parse(readFileSync(projectPath('docs/openapi.json'), 'utf8')) as ApiDocument;

/** Headers of HTTP itself, and those of every answer, which the document does not repeat. */
const UNDECLARED = new Set([
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'strict-transport-security',
  'vary',
  // What browsers may do with a document that somebody opens by its link.
  'content-security-policy',
  'referrer-policy',
  'x-robots-tag',
  'transfer-encoding',
  'x-content-type-options',
]);
/** Headers that an answer always has if the document describes them for it. */
const ALWAYS = ['X-Request-Id', 'ETag', 'Location', 'Allow', 'Link'];
/** A bulk that accepts no reading makes nothing that has a path. */
const leftNothing = ({ status, body }: SeenAnswer): boolean =>
  status === 202 && Buffer.from(body).includes('"batchId":null');

/** An answer kept for an Idempotency-Key describes a state that may be outdated. */
const isReplay = (headers: Headers): boolean => headers.has('idempotency-replayed');
/** The paths of the documentation and of the portal, which are pages for people. */
const isPage = (path: string): boolean =>
  /^\/(openapi\.json|docs|changelog|llms\.txt|portal(\/|$)|$)/.test(path);

/** Schemas that are published separately, and closed already. */
const CLOSED_ALREADY = ['result', 'document_v1'];

/** Closes the schemas: an undocumented member is a fault here, though clients must ignore it. */
const closed = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inside = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  return 'properties' in inside && !('additionalProperties' in inside)
    ? { ...inside, additionalProperties: false }
    : inside;
};

// The linter checks the document itself.
const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
addFormats.default(ajv);
const { schemas } = apiDocument.components;
ajv.addSchema(
  {
    ...apiDocument,
    components: {
      ...apiDocument.components,
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [
          name,
          CLOSED_ALREADY.includes(name) ? schema : closed(schema),
        ]),
      ),
    },
  },
  'api',
);

const escape = (step: string): string => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Compiles the check of a part of the document, by its JSON Pointer. */
export const validatorAt = (...steps: readonly string[]): ValidateFunction => {
  const validate = ajv.getSchema(`api#/${steps.map(escape).join('/')}`);
  if (!validate) throw new Error(`The document has nothing at ${steps.join(' / ')}`);
  return validate;
};

const templates = Object.keys(apiDocument.paths)
  .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }))
  // A literal segment takes precedence over a parameter.
  .sort((a, b) => a.path.split('{').length - b.path.split('{').length);

/** `%E0%A4%A` does not decode. */
const isReadable = (path: string): boolean => {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
};

/** The steps to the response object that describes the answer to a request. */
const described = (method: string, path: string, status: number): readonly string[] | null => {
  if (status === 413) return ['components', 'responses', 'payload_too_large'];
  const template = isReadable(path) && templates.find(({ pattern }) => pattern.test(path))?.path;
  if (status === 429 && !template) return ['components', 'responses', 'rate_limited'];
  if (!template) return status === 404 ? ['components', 'responses', 'not_found'] : null;
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = apiDocument.paths[template]?.[verb];
  if (status === 429 && !operation) return ['components', 'responses', 'rate_limited'];
  if (!operation) return status === 405 ? ['components', 'responses', 'method_not_allowed'] : null;
  const response = operation.responses[String(status)];
  if (!response) return null;
  return response.$ref === undefined
    ? ['paths', template, verb, 'responses', String(status)]
    : response.$ref.split('/').slice(1);
};

const at = (steps: readonly string[]): DescribedResponse =>
  steps.reduce<unknown>((part, step) => (part as Json)[step], apiDocument) as DescribedResponse;

const headerFaults = ({ headers: declared = {} }: DescribedResponse, answer: SeenAnswer): string[] => {
  const { headers, status } = answer;
  const names = new Map(Object.entries(declared).map(([name, { $ref }]) => [name.toLowerCase(), $ref]));
  const faults = [...headers.keys()]
    .filter((name) => !names.has(name) && !UNDECLARED.has(name))
    .map((name) => `the header ${name} is not described`);
  const required = Object.keys(declared).filter(
    (name) =>
      (ALWAYS.includes(name) &&
        !(name === 'ETag' && isReplay(headers)) &&
        !(name === 'Location' && leftNothing(answer))) ||
      (name === 'Retry-After' && (status === 429 || status === 503)),
  );
  faults.push(
    ...required.filter((name) => !headers.has(name)).map((name) => `the header ${name} is missing`),
  );
  for (const [name, reference] of names) {
    const value = headers.get(name);
    if (value === null) continue;
    const component = reference.split('/').at(-1)!;
    const isNumber = apiDocument.components.headers[component]?.schema['type'] === 'integer';
    if (!validatorAt('components', 'headers', component, 'schema')(isNumber ? Number(value) : value))
      faults.push(`the header ${name} is not as described: ${value}`);
  }
  return faults;
};

const bodyFaults = (
  steps: readonly string[],
  { content = {} }: DescribedResponse,
  { headers, body }: SeenAnswer,
): string[] => {
  const mediaTypes = Object.keys(content);
  if (mediaTypes.length === 0) return body.length === 0 ? [] : ['it has a body'];
  const mediaType = headers.get('content-type') ?? 'no media type';
  if (!mediaTypes.includes(mediaType)) return [`${mediaType} is not described, but ${mediaTypes.join(', ')}`];
  if (!mediaType.includes('json')) return [];
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return ['its body is not JSON'];
  }
  const validate = validatorAt(...steps, 'content', mediaType, 'schema');
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${instancePath || 'the body'} ${message} ${JSON.stringify(params)}`,
  );
};

/** The differences between an answer and its description in the OpenAPI document; none when it conforms. */
export const contractFaults = (answer: SeenAnswer): readonly string[] => {
  const path = answer.target.replace(/\?.*$/s, '');
  if (isPage(path)) return [];
  const steps = described(answer.method, path, answer.status);
  if (!steps) return [`the status ${answer.status} is not described`];
  const response = at(steps);
  return [
    ...headerFaults(response, answer),
    ...(answer.method === 'HEAD' ? [] : bodyFaults(steps, response, answer)),
  ];
};

/** @throws Error naming the request and every fault of its answer */
export const assertContract = (answer: SeenAnswer): void => {
  const faults = contractFaults(answer);
  if (faults.length === 0) return;
  const { method, target, status } = answer;
  throw new Error(
    `${method} ${target} was answered ${status} against docs/openapi.json: ${faults.join('; ')}`,
  );
};
