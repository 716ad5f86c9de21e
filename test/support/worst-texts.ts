import { exampleOf, operations, requestOf, resolved, type Operation } from './described-requests.js';

/** A request with the worst text in one of its fields. */
export interface WorstRequest {
  /** As `POST /api/v1/readings /externalId: marks`. */
  readonly field: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Made when it is sent: all of them together would fill the memory. */
  readonly body?: () => Buffer;
}

const NDJSON = 'application/x-ndjson';
/** What the routes read by default; a head is read up to 16 KiB, other headers included. */
const MOST_OF_HEAD = 15_000;
const MOST_OF_BODY = 16_384;
const MOST_OF_BULK = 4_194_304;

/** Units that are repeated: marks that normalisation sorts, those as escapes, and what a pointer escapes or a rule trims. */
const UNITS = {
  marks: '\u0315\u0316',
  escapes: String.raw`\u0315\u0316`,
  tildes: '~',
  spaces: ' ',
} as const;
const IN_ADDRESSES = ['%CC%95%CC%96', '%20', 'a', ','];
/** In headers: what ends, separates and quotes. */
const IN_HEADERS = ['a', ' ,', ';q=', '"', '\u00e9'];

const HOLE = '@hole@';
/** A text with the hole filled up to so many bytes. */
const filled = (text: string, unit: string, most: number): Buffer => {
  const [before = '', after = ''] = text.split(HOLE);
  const room = most - Buffer.byteLength(before + after);
  return Buffer.from(before + unit.repeat(Math.floor(room / Buffer.byteLength(unit))) + after);
};

type Schema = Readonly<Record<string, unknown>>;
type Json = Record<string, unknown>;

/** The example of a schema with a hole in each field in turn, in the names of free members too. */
const holed = (schema: Schema, at = ''): readonly (readonly [pointer: string, value: unknown])[] => {
  const one = resolved(schema) as { properties?: Record<string, Schema>; items?: Schema; allOf?: Schema[] };
  if (one.allOf?.[0]) return holed(one.allOf[0], at);
  if (one.items) return holed(one.items, `${at}/0`).map(([pointer, value]) => [pointer, [value]]);
  if (typeof resolved(schema)['additionalProperties'] === 'object')
    return [
      [`${at}/x`, { x: HOLE }],
      [`${at}/(name)`, { [HOLE]: 'x' }],
    ];
  if (!one.properties) return [[at, HOLE]];
  const whole = exampleOf(schema) as Json;
  return [
    ...Object.entries(one.properties).flatMap(([name, member]) =>
      holed(member, `${at}/${name}`).map(
        ([pointer, value]) => [pointer, { ...whole, [name]: value }] as const,
      ),
    ),
    [`${at}/(name)`, { ...whole, [HOLE]: 1 }] as const,
  ];
};

/** Bodies that are bad as a whole: without end, repeated, or with names that errors would repeat. */
const shapes = (most: number): readonly (readonly [string, () => string])[] => {
  const long = 'n'.repeat(most / 4);
  /** Leaves room for what stands around it. */
  const times = (unit: string, room = most) => unit.repeat(Math.max(1, Math.floor(room / unit.length) - 2));
  return [
    ['spaces', () => `{}${times(' ')}`],
    ['brackets', () => times('[')],
    ['objects in objects', () => times('{"a":')],
    ['numbers', () => `[${times('1,')}1]`],
    ['a long number', () => `[${times('1')}]`],
    ['repeated members', () => `{${times('"a":1,')}"a":1}`],
    [
      'repeated members below a long name',
      () => `{"${long}":{"a":[${times('{"a":1,"a":1},', most / 2)}{}]}}`,
    ],
    ['repeated long members', () => `{${times(`"${'n'.repeat(most / 100)}":1,`)}"a":1}`],
    ['reserved members below a long name', () => `{"${long}":[${times('{"__proto__":1},', most / 2)}1]}`],
    ['text that no database stores', () => `{"${long}":[${times('"\\u0000",', most / 2)}1]}`],
    ['infinite numbers', () => `{"${long}":[${times('1e999,', most / 2)}1]}`],
    [
      'empty readings',
      () => `{"mode":"available","readings":[${times('{},', Math.min(most / 2, 3_000))}{}]}`,
    ],
    [
      'a reading of lists',
      () => `{"mode":"available","readings":[{"name":{"firstNames":[${times('[],', 300_000)}1]}}]}`,
    ],
    [
      'an escaped name, and brackets',
      () => String.raw`{"\u0061` + `${'n'.repeat(most / 2)}":${times('[]', most / 2 - 20)}`,
    ],
    ['names that JSON does not know', () => `{${times(String.raw`"\x"`)}`],
    ['escaped names', () => `{${times(String.raw`"\u0061",`)}`],
    ['lists again and again', () => `{${times('"readings":[],')}"mode":"all"}`],
    ['commas', () => `{"mode":"available","readings":[${times(',')}`],
    ['unknown members', () => `{"mode":"available","readings":[${times(`{"${'n'.repeat(4_000)}":1},`)}{}]}`],
  ];
};

const ofParameters = (operation: Operation, ids: Readonly<Record<string, string>>): WorstRequest[] => {
  const { method, parameters } = operation;
  const { target, body } = requestOf(operation, ids);
  const sent = {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: () => Buffer.from(JSON.stringify(body)) }),
  };
  return parameters.map(resolved).flatMap((one) => {
    const name = String(one['name']);
    const field = `${method} ${operation.path} ${String(one['in'])} ${name}`;
    if (one['in'] === 'header')
      return IN_HEADERS.map((unit) => ({
        ...sent,
        field: `${field}: ${unit}`,
        target,
        headers: { ...sent.headers, [name.toLowerCase()]: `x${unit.repeat(MOST_OF_HEAD / unit.length)}x` },
      }));
    const holedTarget =
      one['in'] === 'path'
        ? requestOf(operation, { ...ids, [name]: HOLE }).target
        : requestOf(operation, ids, { [name]: HOLE }).target.replace(encodeURIComponent(HOLE), HOLE);
    return IN_ADDRESSES.map((unit) => ({
      ...sent,
      field: `${field}: ${unit}`,
      target: filled(holedTarget, unit, MOST_OF_HEAD).toString(),
    }));
  });
};

/** Requests with bodies as large as the route reads. */
const ofBody = (operation: Operation, ids: Readonly<Record<string, string>>): WorstRequest[] => {
  const { method, path, requestBody } = operation;
  const { target } = requestOf(operation, ids);
  const json = requestBody?.content['application/json'];
  if (!json) return [];
  const isBulk = NDJSON in requestBody.content;
  const most = isBulk ? MOST_OF_BULK : MOST_OF_BODY;
  const requests = (type: string, bodies: readonly (readonly [string, () => Buffer])[]): WorstRequest[] =>
    bodies.map(([name, body]) => ({
      field: `${method} ${path} ${type === NDJSON ? 'line' : 'body'} ${name}`,
      method,
      target: type === NDJSON ? `${target}?mode=available` : target,
      headers: { 'content-type': type },
      body,
    }));
  const texts = (schema: Schema) =>
    holed(schema).flatMap(([pointer, value]) =>
      Object.entries(UNITS).map(
        ([name, unit]) => [`${pointer}: ${name}`, () => filled(JSON.stringify(value), unit, most)] as const,
      ),
    );
  const whole = shapes(most).map(([name, text]) => [name, () => Buffer.from(text())] as const);
  const line = resolved(json.schema) as { properties?: { readings?: { items: Schema } } };
  return [
    // All routes read JSON alike.
    ...requests('application/json', [...texts(json.schema), ...(path.includes('/readings') ? whole : [])]),
    ...(isBulk ? requests(NDJSON, [...texts(line.properties!.readings!.items), ...whole]) : []),
  ];
};

/** The worst text for each field of each operation. @param ids of things that exist, by the names of path parameters */
export const worstRequests = (ids: Readonly<Record<string, string>>): readonly WorstRequest[] =>
  operations.flatMap((operation) => [...ofParameters(operation, ids), ...ofBody(operation, ids)]);

/** Headers that every route reads, with the worst text in one of them. */
export const worstHeaders: readonly WorstRequest[] = [
  'accept',
  'authorization',
  'content-type',
  'cookie',
  'x-api-key',
  'x-forwarded-for',
].flatMap((name) =>
  IN_HEADERS.map((unit) => ({
    field: `header ${name}: ${unit}`,
    method: 'POST',
    target: '/api/v1/webhooks',
    headers: {
      'content-type': 'application/json',
      [name]: `Bearer ${unit.repeat(MOST_OF_HEAD / unit.length)}x`,
    },
    body: () => Buffer.from('{}'),
  })),
);
