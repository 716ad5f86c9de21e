import { describe, expect, it } from '@jest/globals';
import type { Insider } from '../auth/authentication.js';
import { Problem, type FieldError } from './problem.js';
import { httpUnderTest, principal } from './testing/http-under-test.js';

const { inside, lines, http, post, refuse } = httpUnderTest();
const LINE = { text: 'a', amount: 1 };
const SOUND = { locale: 'fr-FR', lines: [LINE, LINE] };

describe('a body', () => {
  const told = async (body: object) => {
    const answer = await post(body);
    const errors = (answer.body.errors ?? []) as FieldError[];
    return {
      ...answer.body,
      status: answer.status,
      errors: errors.map(({ pointer, code }) => `${pointer} ${code}`).toSorted(),
      text: answer.text,
    };
  };

  it('arrives as its DTO', async () => {
    expect((await post(SOUND)).body).toEqual({ isDto: true, lines: 2 });
  });

  it('is refused with every error at once, each with its pointer, and no value repeated', async () => {
    const line = { text: 5, amount: 'canary-2', 'né/e': 'canary-3' };
    const answer = await told({ locale: 'canary-1', lines: [line, LINE], extra: { canary: 'canary-4' } });
    expect(answer).toMatchObject({ status: 400, code: 'validation_failed', detail: '5 fields are invalid' });
    expect(answer.errors).toEqual([
      '/extra unknown_field',
      '/lines/0/amount invalid_value',
      '/lines/0/né~1e unknown_field',
      '/lines/0/text invalid_value',
      '/locale unsupported_locale',
    ]);
    expect(answer.text).toContain('"detail":"must be fr-FR or en-US"');
    expect(answer.text).not.toMatch(/canary-/);
  });

  it.each([
    ['a single fault, whose code it has', { ...SOUND, locale: 'de-DE' }, ['/locale unsupported_locale']],
    ['nothing where a field is required', { locale: 'fr-FR' }, ['/lines required']],
    [
      'faults of its shape and of its own checks',
      { locale: 'x', lines: [{ text: 'a', amount: 101 }] },
      ['/lines/0/amount too_much', '/locale unsupported_locale'],
    ],
    [
      'a fault of its shape, which stops its own checks',
      { ...SOUND, lines: [{ text: 1, amount: 101 }] },
      ['/lines/0/text invalid_value'],
    ],
  ])('is refused with %s', async (_, body, errors) => {
    const [only, ...others] = errors;
    const own = others.length === 0 && only?.includes('locale');
    expect(await told(body)).toMatchObject({
      status: 400,
      errors,
      code: own ? 'unsupported_locale' : 'validation_failed',
    });
  });

  it.each([
    ['a list', 'application/json', '[]', 400, 'validation_failed'],
    ['nothing', 'application/json', undefined, 400, 'validation_failed'],
    ['malformed', 'application/json', '{', 400, 'malformed_json'],
    ['of another media type', 'text/plain', '{}', 415, 'unsupported_media_type'],
    ['too large', 'application/json', `"${'x'.repeat(1_024)}"`, 413, 'payload_too_large'],
  ])('that is %s is refused', async (_, type, text, status, code) => {
    const answer = await http().post('/orders').set('content-type', type).send(text);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it.each([
    ['/orders', { 'content-type': 'text/csv' }, 'Send application/json, uncompressed'],
    ['/lines', { 'content-type': 'text/csv' }, 'Send application/json or application/x-ndjson, uncompressed'],
    // A small one could become a large one.
    ['/orders', { 'content-encoding': 'gzip' }, 'Send application/json, uncompressed'],
  ])('is told what %s takes in place of %j', async (path, headers, detail) => {
    const { status, body } = await http().post(path).type('application/json').set(headers).send('a,b');
    expect([status, body.detail]).toEqual([415, detail]);
  });
});

describe('an error', () => {
  it('that is a problem is answered in full, with the id of the request', async () => {
    const { status, body, headers } = await http().get('/throws/problem');
    expect(headers).toMatchObject({ 'x-hint': 'buy', 'cache-control': 'no-store' });
    const id = headers['x-request-id'];
    expect(id).toMatch(/^req_[0-9a-f-]{36}$/);
    expect([status, body]).toEqual([
      402,
      {
        type: 'urn:problem:insufficient_credits',
        title: 'Insufficient credits',
        status: 402,
        code: 'insufficient_credits',
        detail: 'not enough',
        instance: `urn:request:${id}`,
        requestId: id,
        required: 20,
        available: 3,
      },
    ]);
  });

  it.each(['store', 'postgres'])(
    'of an unavailable dependency (%s) is a 503 with a time to retry, and a read does not say that it enqueues',
    async (what) => {
      const answers = [await http().post(`/throws/${what}`), await http().get(`/throws/${what}`)];
      expect(answers.map(({ status, body, headers }) => [status, body.code, headers['retry-after']])).toEqual(
        [
          [503, 'enqueue_unavailable', '5'],
          [503, 'service_unavailable', '5'],
        ],
      );
      expect((await http().head(`/throws/${what}`)).headers['link']).toContain('/service_unavailable>');
      expect(answers.map(({ text }) => text).join()).not.toContain('10.0.0');
    },
  );

  it.each(['bug', 'text'])(
    'of a bug (%s) is a 500 without internal details, and is logged with the request',
    async (what) => {
      lines.length = 0;
      const { status, body, text } = await http().get(`/throws/${what}`);
      expect([status, body.code]).toEqual([500, 'internal_error']);
      expect(text).not.toMatch(/canary|TypeError|\.ts/);
      expect(lines.map((line) => JSON.parse(line))).toContainEqual(
        expect.objectContaining({ level: 50, requestId: body.requestId, code: 'internal_error' }),
      );
    },
  );

  it.each(['/nowhere', '/throws/%E0%A4%A'])(
    'for an unknown or undecodable path is a 404: %s',
    async (path) => {
      const { status, body } = await http().get(path).set('x-api-key', 'good');
      expect([status, body.code]).toEqual([404, 'not_found']);
    },
  );
});

describe('a route', () => {
  it.each([
    ['/keys-only', {}, 'ApiKey realm="api"'],
    ['/scoped', {}, 'ApiKey realm="api", Bearer realm="api"'],
    ['/scoped', { 'x-api-key': 'garbage' }, 'ApiKey realm="api", Bearer realm="api"'],
    [
      '/scoped',
      { authorization: 'bearer garbage' },
      'ApiKey realm="api", Bearer realm="api", error="invalid_token"',
    ],
    ['/undeclared', {}, 'ApiKey realm="api"'],
  ])('names in WWW-Authenticate what it accepts: %s with %j', async (path, headers, challenge) => {
    const answer = await http().get(path).set(headers);
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, challenge]);
  });

  it.each([
    [{ authorization: 'Bearer ek_live_Ab3dE6gH_4rT9vXk2' }, 'An API key goes into x-api-key'],
    [{ 'x-api-key': 'eyJhbGciOiJFZERTQSJ9.e30.c2ln' }, 'A bearer token goes into'],
  ])('says of %j, if it is in the wrong header, which is the right one', async (headers, detail) => {
    const { status, body } = await http().get('/scoped').set(headers);
    expect([status, body.code, body.detail]).toEqual([
      401,
      'unauthenticated',
      expect.stringContaining(detail),
    ]);
  });

  it.each<[Record<string, string>, number, string]>([
    [{ 'x-api-key': 'garbage', authorization: 'Bearer scopes.webhooks-read' }, 401, 'unauthenticated'],
    [{ authorization: 'Bearer scopes.credits-read' }, 403, 'scope_missing'],
    [{ 'x-api-key': 'scopes.credits-read' }, 403, 'scope_missing'],
    [{ 'x-api-key': 'elsewhere' }, 403, 'network_not_allowed'],
    [{ authorization: 'Bearer unjudged' }, 503, 'service_unavailable'],
  ])('refuses %j', async (headers, status, code) => {
    const answer = await http().get('/scoped').set(headers);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it.each<Record<string, string>>([
    { authorization: 'Bearer unjudged' },
    { 'x-api-key': 'elsewhere' },
    { 'x-api-key': 'garbage' },
  ])('counts %j against the address', async (headers) => {
    refuse(() => new Problem('rate_limited'));
    expect((await http().get('/scoped').set(headers)).status).toBe(429);
    refuse(() => null);
  });

  it('that held a request refuses it like a new one when the key has ended meanwhile', async () => {
    const held = (key: string) => http().get('/held').set('x-api-key', key);
    expect((await held('good')).body).toEqual({ given: true });
    expect((await held('ends.1')).headers['www-authenticate']).toBe('ApiKey realm="api"');
    refuse(() => new Problem('rate_limited'));
    expect((await held('ends.2')).status).toBe(429);
    refuse(() => null);
  });

  it('that held a request of this process for somebody asks them again, too', async () => {
    const person = principal('session');
    const held = async (verify: Insider['verify']) =>
      (await inside({ method: 'GET', path: '/held', insider: { principal: person, verify } })).status;
    expect([await held(async () => person), await held(async () => null)]).toEqual([200, 401]);
  });
});

it.each([
  [1_024, [1_024, 1_024, 1_024]],
  [1_025, [0, 0, 1_025]],
])('Preferences of %d characters are heeded or not, and nothing else is dropped', async (length, kept) => {
  const text = 'a'.repeat(length);
  const sent = { accept: text, 'accept-language': text, cookie: text };
  expect((await http().get('/preferences').set(sent)).body).toEqual(kept);
});

const ETAG = '015abd7f5cc57a2dd94b7590f04ad808';

describe('sendJson', () => {
  it.each(['get', 'head'] as const)(
    'sends a strong ETag and the size to %s, and keeps the bytes out of caches',
    async (method) => {
      const { status, headers } = await http()[method]('/bytes');
      expect([status, headers]).toMatchObject([
        200,
        {
          etag: `"${ETAG}"`,
          'cache-control': 'no-store',
          'content-type': 'application/json',
          'content-length': '7',
        },
      ]);
    },
  );

  it.each([
    [`"${ETAG}"`, 304],
    // As Apache marks what it compresses.
    [`"${ETAG}-gzip"`, 304],
    [`W/"x",W/"${ETAG}-br"`, 304],
    ['*', 304],
    [`"${ETAG}-2"`, 200],
    [ETAG, 200],
  ])('answers If-None-Match: %s with %d', async (condition, expected) => {
    const { status, text } = await http().get('/bytes').set('if-none-match', condition);
    expect([status, text]).toEqual([expected, expected === 304 ? '' : '{"a":1}']);
  });
});

describe('a key is judged by the address of the caller', () => {
  const behind = httpUnderTest(1);

  it.each([
    ['no proxy', http, '198.51.100.7', '127.0.0.1'],
    ['a proxy', behind.http, '203.0.113.7, 198.51.100.7', '198.51.100.7'],
    ['a proxy', behind.http, '::ffff:198.51.100.7', '198.51.100.7'],
    ['a proxy', behind.http, '[2001:DB8::1]:4711', '2001:db8::1'],
    ['a proxy', behind.http, 'not an address', '127.0.0.1'],
  ])('behind %s: %s%s', async (_, client, forwarded, from) => {
    const { body } = await client()
      .post('/scoped')
      .set({ 'x-api-key': 'whence', 'x-forwarded-for': forwarded });
    expect(body).toEqual({ actor: `apiKey:${from}` });
  });
});
