import fc from 'fast-check';

/** Part of every generated value. A refusal that contains it repeats the input. */
export const CANARY = 'Zq7Canary';

/** Texts that often break software. */
export const NASTY = [
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
/** The canary, followed by random text. */
export const canary = fc
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

type Json = unknown;
export type Change = (body: Json) => Json;

/** Changes a nested value: each step enters the member with that number. */
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
const replaced =
  (by: Json): Change =>
  () =>
    by;
const removed: Change = (body) =>
  typeof body === 'object' && body !== null ? Object.fromEntries(Object.entries(body).slice(1)) : undefined;
const added =
  (name: string, of: Json): Change =>
  (body) =>
    typeof body === 'object' && body !== null
      ? // Defined, not assigned: `__proto__` must arrive as a member.
        Object.defineProperty({ ...body }, name, { value: of, enumerable: true })
      : of;

/** Changes to a body. */
export const change: fc.Arbitrary<Change> = fc
  .tuple(
    fc.array(fc.nat(5), { maxLength: 3 }),
    fc.oneof(
      { weight: 5, arbitrary: value.map((one) => replaced(one)) },
      fc.constant(removed),
      fc.tuple(memberName, value).map(([name, one]) => added(name, one)),
    ),
  )
  .map(([path, what]) => inside(path, what));

/** Changes to the text of a body. */
export const garble: fc.Arbitrary<(text: string) => Buffer> = fc.oneof(
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
