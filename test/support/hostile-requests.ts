import fc from 'fast-check';
import { exampleOf, operations, requestOf, type Operation } from './described-requests.js';

/** A raw request: anything that HTTP lets a caller send. */
export interface HostileRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

/** Part of every generated value. A refusal that contains it repeats the input. */
export const CANARY = 'Zq7Canary';

/** Texts that often break software. */
const NASTY = [
  '',
  '\u0000',
  '\u202e\u200b\ufeff',
  '\ud800',
  'Z̸̢a̷l̶g̵o̸'.repeat(20),
  'a'.repeat(5_000),
  "'; drop schema readings cascade; --",
  '{{constructor.constructor("return process")()}}',
  '../../../etc/passwd',
  '\r\nx-injected: 1\r\n\r\n<script>',
  'http://2130706433/',
  'https://user:pass@example.com/',
  '2023-02-30',
  '9999-12-31T23:59:60Z',
  '+275760-09-13T00:00:00.000Z',
  'null',
];
/** The canary, followed by random text. */
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
const MEMBERS = '__proto__ constructor prototype toString workspaceId credits status url a/b~c $ref é';
const memberName = fc.constantFrom('', ...MEMBERS.split(' '));

/** Changes to a body: one of its values, at any depth, is another, is gone, or has one more member. */
const change = fc
  .tuple(fc.nat(12), fc.constantFrom('replace', 'replace', 'replace', 'remove', 'add'), memberName, value)
  .map(([place, how, name, by]) => (body: unknown): unknown => {
    let at = 0;
    return JSON.parse(JSON.stringify(body) ?? 'null', (_, one: unknown) => {
      if ((at += 1) - 1 !== place) return one;
      if (how === 'remove') return undefined;
      return how === 'add' && typeof one === 'object' && one !== null
        ? // Defined, not assigned: `__proto__` must arrive as a member.
          Object.defineProperty({ ...one }, name, { value: by, enumerable: true })
        : by;
    });
  });

/** Changes to the text of a body. */
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

const words = (text: string) => text.split(' ');
const PARAMETERS = words(
  'limit cursor status type readingId since until undelivered format version __proto__ limit[] limit[a]',
);
const VALUES = [...words('1 0 101 1e2 ٣ -1 pdf markdown completed true'), ...NASTY.slice(0, 4)];
const query = fc.array(
  fc.tuple(fc.constantFrom(...PARAMETERS), fc.oneof(canary, fc.constantFrom(...VALUES))),
  { maxLength: 4 },
);

/** Latin-1 without control characters, which is what a header can hold. */
const headerText = fc.oneof(
  canary.map((text) => text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '').trim()),
  fc.constantFrom('', ...words('* " W/" "1","2 ,,, wait=1 wait=99999 wait=-1 ;q='), 'a'.repeat(300)),
);
const JSON_TYPE = 'application/json';
/** What a header may have, by its name. */
const HEADERS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'content-type': fc.constantFrom(
    ...[JSON_TYPE, JSON_TYPE, JSON_TYPE, `${JSON_TYPE}; charset=utf-16`, 'application/merge-patch+json'],
    ...['text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', 'json', ''],
  ),
  accept: fc.constantFrom(...words('*/* text/html application/pdf;q=0 ;; application/*;q=0.1')),
  'idempotency-key': fc.oneof(fc.constantFrom('1', '2', '3'), headerText),
  'content-encoding': fc.constantFrom('gzip', 'br', 'identity', CANARY),
  'x-http-method-override': fc.constant('DELETE'),
  origin: fc.constant('https://evil.example'),
  range: fc.constant('bytes=0-1'),
  ...Object.fromEntries(
    words('if-none-match if-match prefer x-forwarded-for x-request-id cookie').map((name) => [
      name,
      headerText,
    ]),
  ),
};
const headers = fc
  .array(
    fc.oneof(...Object.entries(HEADERS).map(([name, values]) => values.map((one) => [name, one] as const))),
    {
      maxLength: 3,
    },
  )
  .map((pairs): Record<string, string> => Object.fromEntries(pairs));

/** Ids for path parameters, and credentials. */
export interface Known {
  readonly ids: readonly Readonly<Record<string, string>>[];
  readonly credentials: readonly Readonly<Record<string, string>>[];
}

const FOREIGN_METHODS = words('HEAD PUT OPTIONS TRACE PROPFIND DELETE POST PATCH GET');
/** Usually the one, and one time in so many more the other. */
const seldom = <One, Other>(weight: number, one: One, other: fc.Arbitrary<Other>) =>
  fc.oneof({ weight, arbitrary: fc.constant(one) }, { weight: 1, arbitrary: other });
const wrongCredentials = headerText.chain((text) =>
  fc.constantFrom<Record<string, string>>(
    {},
    { 'x-api-key': text },
    { authorization: `Bearer ${text}` },
    { authorization: text },
  ),
);

/** Requests that start as the OpenAPI document describes them, with one or more faults. */
export const hostileRequest = ({ ids, credentials }: Known): fc.Arbitrary<HostileRequest> =>
  fc
    .record({
      operation: fc.constantFrom<Operation>(...operations),
      known: fc.constantFrom(...ids),
      // Mostly valid credentials, since an early refusal tests little of the service.
      wrongId: seldom(4, null, id),
      otherMethod: seldom(15, null, fc.constantFrom(...FOREIGN_METHODS)),
      query,
      headers,
      credentials: fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...credentials) }, wrongCredentials),
      changes: fc.array(change, { maxLength: 3 }),
      garble,
      suffix: seldom(15, '', fc.constantFrom(...words('/ // /.. %2f ;a=b %00'))),
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
      const search = [required, new URLSearchParams(drawn.query).toString()].filter(Boolean).join('&');
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
