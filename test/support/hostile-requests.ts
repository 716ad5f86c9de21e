import fc from 'fast-check';
import { exampleOf, operations, requestOf, type Operation } from './described-requests.js';

/** A request as bytes: whatever HTTP lets a caller send. */
export interface HostileRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/** In every value that is made up: an answer of refusal that holds it repeats what was sent. */
export const CANARY = 'Zq7Canary';

const NASTY = [
  '',
  ' ',
  '\u0000',
  '\u202e\u200b\ufeff',
  '\ud800',
  '😀'.repeat(40),
  'Z̸̢a̷l̶g̵o̸'.repeat(20),
  'ÿ'.repeat(400),
  'a'.repeat(5_000),
  "'; drop schema readings cascade; --",
  "' or '1'='1",
  '$1, $2); select pg_sleep(10); --',
  '{{constructor.constructor("return process")()}}',
  '${jndi:ldap://127.0.0.1/a}',
  '../../../etc/passwd',
  '\r\nx-injected: 1\r\n\r\n<script>',
  'https://[::1]:80/',
  'http://2130706433/',
  'https://user:pass@example.com/',
  'https://127.0.0.1.nip.example\\@example.com/',
  '2023-02-30',
  '9999-12-31T23:59:60Z',
  '0000-01-01T00:00:00Z',
  '+275760-09-13T00:00:00.000Z',
  'NaN',
  '[object Object]',
  'true',
  'null',
];
const canary = fc
  .oneof(fc.constantFrom(...NASTY), fc.string({ unit: 'binary', maxLength: 60 }))
  .map((text) => CANARY + text);

const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: canary },
  { weight: 2, arbitrary: fc.constantFrom(...NASTY) },
  fc.constantFrom<unknown>(null, true, false, 0, -0, -1, 1.5, 1e308, 2 ** 53, [], {}, [[]], [null], ['']),
  fc.array(canary, { maxLength: 20 }),
  fc.constantFrom<unknown>(Array(2_000).fill(0), Array(9).fill('Martin'), { toString: 1 }, { length: 3 }),
  fc.jsonValue({ maxDepth: 4 }),
);
const memberName = fc.constantFrom(
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'workspaceId',
  'credits',
  'status',
  'url',
  'a/b~c',
  '',
  '$ref',
  'é',
);

type Json = unknown;
type Change = (body: Json) => Json;

/** A change somewhere inside: each step goes into the member with that number. */
const inside = (path: readonly number[], change: Change): Change => {
  const [step, ...rest] = path;
  if (step === undefined) return change;
  return (body) => {
    if (typeof body !== 'object' || body === null || Object.keys(body).length === 0) return change(body);
    const names = Object.keys(body);
    const name = names[step % names.length]!;
    const copy = (Array.isArray(body) ? [...(body as unknown[])] : { ...body }) as Record<string, Json>;
    copy[name] = inside(rest, change)(copy[name]);
    return copy;
  };
};
const removed: Change = (body) =>
  typeof body === 'object' && body !== null ? Object.fromEntries(Object.entries(body).slice(1)) : undefined;
const added =
  (name: string, of: Json): Change =>
  (body) =>
    typeof body === 'object' && body !== null
      ? // Defined, not assigned: `__proto__` must arrive as a member.
        Object.defineProperty({ ...body }, name, { value: of, enumerable: true })
      : of;

const change: fc.Arbitrary<Change> = fc
  .tuple(
    fc.array(fc.nat(5), { maxLength: 3 }),
    fc.oneof(
      {
        weight: 5,
        arbitrary: value.map(
          (one): Change =>
            () =>
              one,
        ),
      },
      fc.constant(removed),
      fc.tuple(memberName, value).map(([name, one]) => added(name, one)),
    ),
  )
  .map(([path, what]) => inside(path, what));

/** What is done to the text of a body. */
const garble: fc.Arbitrary<(text: string) => Buffer> = fc.oneof(
  { weight: 12, arbitrary: fc.constant((text: string) => Buffer.from(text)) },
  fc.constantFrom<(text: string) => Buffer>(
    (text) => Buffer.from(text.replace('{', `{"locale":"${CANARY}",`)),
    (text) => Buffer.from(text.replace('{', '{"\\u0075rl":"x","url":"y",')),
    (text) => Buffer.from(text.slice(0, -1)),
    (text) => Buffer.from(text + text),
    (text) => Buffer.from(`\ufeff${text}`),
    (text) => Buffer.from(text, 'utf16le'),
    (text) =>
      Buffer.concat([Buffer.from(text.slice(0, 10)), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('"}')]),
    () => Buffer.from('['.repeat(8_000)),
    () => Buffer.from('{"a":'.repeat(3_000) + '1' + '}'.repeat(3_000)),
    (text) => Buffer.from(text + ' '.repeat(17_000)),
    (text) => Buffer.from(text.replace(/:"[^"]*"/, ':1e999')),
    () => Buffer.from('null'),
    () => Buffer.from(`"${CANARY}"`),
    () => Buffer.alloc(0),
    () => Buffer.from([0]),
  ),
);

const id = fc.oneof(
  { weight: 3, arbitrary: canary.map(encodeURIComponentSafely) },
  fc.constantFrom('%00', '%E0%A4%A', '..%2f..', '%', '.', '%2e%2e', '-1', '0', 'null', CANARY.repeat(300)),
);

function encodeURIComponentSafely(text: string): string {
  // A lone surrogate cannot be encoded.
  return encodeURIComponent(Buffer.from(text).toString()) || 'x';
}

const query = fc.array(
  fc.tuple(
    fc.constantFrom(
      'limit',
      'cursor',
      'status',
      'type',
      'readingId',
      'since',
      'until',
      'undelivered',
      'format',
      'version',
      '__proto__',
      'limit[]',
      'limit[a]',
    ),
    fc.oneof(
      canary,
      fc.constantFrom(
        '1',
        '0',
        '101',
        '1e2',
        '٣',
        '-1',
        'pdf',
        'markdown',
        'completed',
        'true',
        ...NASTY.slice(0, 4),
      ),
    ),
  ),
  { maxLength: 4 },
);

/** Latin-1 without control characters: what a header can hold. */
const headerText = fc.oneof(
  canary.map((text) => text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '').trim()),
  fc.constantFrom(
    '',
    '*',
    '"',
    'W/"',
    '"1","2',
    ',,,',
    'wait=1',
    'wait=99999',
    'wait=-1',
    ';q=',
    'a'.repeat(300),
  ),
);
const contentType = fc.constantFrom(
  'application/json',
  'application/json',
  'application/json',
  'application/json; charset=utf-16',
  'application/merge-patch+json',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'json',
  '',
);
const header = (name: string, values: fc.Arbitrary<string>) => values.map((one) => [name, one] as const);
const headers = fc
  .array(
    fc.oneof(
      header('content-type', contentType),
      header(
        'accept',
        fc.constantFrom('*/*', 'text/html', 'application/pdf;q=0', ';;', 'application/*;q=0.1'),
      ),
      {
        weight: 2,
        arbitrary: header('idempotency-key', fc.oneof(fc.constantFrom('1', '2', '3'), headerText)),
      },
      header('if-none-match', headerText),
      header('if-match', headerText),
      header('prefer', headerText),
      header('content-encoding', fc.constantFrom('gzip', 'br', 'identity', CANARY)),
      header('x-forwarded-for', headerText),
      header('x-request-id', headerText),
      header('x-http-method-override', fc.constant('DELETE')),
      header('origin', fc.constant('https://evil.example')),
      header('range', fc.constant('bytes=0-1')),
      header('cookie', headerText),
    ),
    { maxLength: 3 },
  )
  .map((pairs): Record<string, string> => Object.fromEntries(pairs));

/** What a path can name, and what opens it. */
export interface Known {
  readonly ids: readonly Readonly<Record<string, string>>[];
  readonly credentials: readonly Readonly<Record<string, string>>[];
}

const FOREIGN_METHODS = ['HEAD', 'PUT', 'OPTIONS', 'TRACE', 'PROPFIND', 'DELETE', 'POST', 'PATCH', 'GET'];

/** Requests that begin as the OpenAPI document describes them and go astray in some way, or in several. */
export const hostileRequest = ({ ids, credentials }: Known): fc.Arbitrary<HostileRequest> =>
  fc
    .record({
      operation: fc.constantFrom<Operation>(...operations),
      known: fc.constantFrom(...ids),
      // Mostly right, since what is refused at the door shows little of the house.
      wrongId: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: id }),
      otherMethod: fc.oneof(
        { weight: 15, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.constantFrom(...FOREIGN_METHODS) },
      ),
      query,
      headers,
      credentials: fc.oneof(
        { weight: 12, arbitrary: fc.constantFrom(...credentials) },
        {
          weight: 1,
          arbitrary: headerText.chain((text) =>
            fc.constantFrom<Record<string, string>>(
              {},
              { 'x-api-key': text },
              { authorization: `Bearer ${text}` },
              { authorization: text },
            ),
          ),
        },
      ),
      changes: fc.array(change, { maxLength: 3 }),
      garble,
      suffix: fc.oneof(
        { weight: 15, arbitrary: fc.constant('') },
        fc.constantFrom('/', '//', '/..', '%2f', ';a=b', '%00'),
      ),
    })
    .map((drawn) => {
      const { operation, known, wrongId, otherMethod, changes } = drawn;
      const named = Object.fromEntries(
        operation.ids.map((name, place) => [
          name,
          place === operation.ids.length - 1 && wrongId !== null ? wrongId : known[name]!,
        ]),
      );
      const { target, body } = requestOf(operation, named);
      const [path = '', required = ''] = target.split('?');
      const search = [required, new URLSearchParams(drawn.query as [string, string][]).toString()]
        .filter(Boolean)
        .join('&');
      const sound = body ?? exampleOf({ examples: [{ a: CANARY }] });
      const changed = changes.reduce((so, one) => one(so), sound);
      const sends = operation.requestBody !== undefined || otherMethod !== null;
      return {
        method: otherMethod ?? operation.method,
        target: path + drawn.suffix + (search === '' ? '' : `?${search}`),
        headers: {
          ...(sends && { 'content-type': 'application/json' }),
          ...drawn.headers,
          ...drawn.credentials,
        },
        body: sends ? drawn.garble(JSON.stringify(changed) ?? '') : null,
      };
    });
