import { describe, expect, it } from '@jest/globals';
import { Problem, type FieldError } from './problem.js';
import { httpUnderTest, principal } from './testing/http-under-test.js';

const { lines, http, post, refuse } = httpUnderTest();
const LINE = { text: 'a', amount: 1 };

describe('a body', () => {
  it('arrives as its DTO', async () => {
    const { status, body } = await post({ locale: 'fr-FR', lines: [LINE, LINE] });
    expect([status, body]).toEqual([201, { isDto: true, lines: 2 }]);
  });

  it('is refused with every error at once, each with its pointer, and no value repeated', async () => {
    const { status, body, headers } = await post({
      locale: 'canary-1',
      lines: [{ text: 5, amount: 'canary-2', 'né/e': 'canary-3' }, LINE],
      extra: { canary: 'canary-4' },
    });
    expect(status).toBe(400);
    expect(headers['content-type']).toContain('application/problem+json');
    expect(body).toMatchObject({ code: 'validation_failed', detail: '5 fields are invalid' });
    expect(body.errors.map(({ pointer, code }: FieldError) => [pointer, code]).toSorted()).toEqual([
      ['/extra', 'unknown_field'],
      ['/lines/0/amount', 'invalid_value'],
      ['/lines/0/né~1e', 'unknown_field'],
      ['/lines/0/text', 'invalid_value'],
      ['/locale', 'unsupported_locale'],
    ]);
    expect(body.errors.find(({ pointer }: FieldError) => pointer === '/locale').detail).toBe(
      'must be fr-FR or en-US',
    );
    expect(JSON.stringify(body)).not.toMatch(/canary-/);
  });

  it('with a single fault is refused with the code of that fault', async () => {
    const { body } = await post({ locale: 'de-DE', lines: [LINE] });
    expect(body).toMatchObject({
      code: 'unsupported_locale',
      title: 'Locale is not supported',
      detail: '1 field is invalid',
    });
    // A field code that is not a problem code is answered under the general problem.
    expect((await post({ locale: 'fr-FR', lines: [] })).body.code).toBe('validation_failed');
  });

  it('without a required field is refused with one error for it', async () => {
    const { body } = await post({ locale: 'fr-FR' });
    expect(body.errors).toEqual([{ pointer: '/lines', code: 'required', detail: 'is required' }]);
  });

  it('that checks itself adds its errors to those of its shape, for valid properties only', async () => {
    const both = await post({ locale: 'x', lines: [{ text: 'a', amount: 101 }] });
    expect(both.body.errors.map(({ code }: FieldError) => code)).toEqual(['unsupported_locale', 'too_much']);
    const unsound = await post({ locale: 'fr-FR', lines: [{ text: 1, amount: 101 }] });
    expect(unsound.body.errors.map(({ pointer }: FieldError) => pointer)).toEqual(['/lines/0/text']);
  });

  it.each<[string, string | undefined]>([
    ['a list', '[]'],
    ['a text', '"x"'],
    ['null', 'null'],
    ['nothing', undefined],
  ])('that is %s is refused', async (_, text) => {
    const { status, body } = await http().post('/orders').set('content-type', 'application/json').send(text);
    expect([status, body.code]).toEqual([400, 'validation_failed']);
  });

  it.each([
    ['malformed', 'application/json', '{', 400, 'malformed_json'],
    ['of another media type', 'text/plain', '{}', 415, 'unsupported_media_type'],
    ['too large', 'application/json', `"${'x'.repeat(1_024)}"`, 413, 'payload_too_large'],
  ])('that is %s is refused', async (_, type, text, status, code) => {
    const answer = await http().post('/orders').set('content-type', type).send(text);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it('of another media type is told which the route takes', async () => {
    const detail = async (path: string) =>
      (await http().post(path).set('content-type', 'text/csv').send('a,b')).body.detail;
    expect([await detail('/orders'), await detail('/lines')]).toEqual([
      'Send application/json, uncompressed',
      'Send application/json or application/x-ndjson, uncompressed',
    ]);
  });

  it('that is compressed is refused, since a small one could become a large one', async () => {
    const answer = await http()
      .post('/orders')
      .set({ 'content-type': 'application/json', 'content-encoding': 'gzip' })
      .send('x');
    expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type']);
  });
});

describe('an error', () => {
  it('that is a problem is answered in full, with the id of the request', async () => {
    const { status, body, headers } = await http().get('/throws/problem');
    expect(status).toBe(402);
    expect(headers).toMatchObject({ 'x-hint': 'buy', 'cache-control': 'no-store' });
    const id = headers['x-request-id'];
    expect(id).toMatch(/^req_[0-9a-f-]{36}$/);
    expect(body).toEqual({
      type: 'urn:problem:insufficient_credits',
      title: 'Insufficient credits',
      status: 402,
      code: 'insufficient_credits',
      detail: 'not enough',
      instance: `urn:request:${id}`,
      requestId: id,
      required: 20,
      available: 3,
    });
  });

  it.each(['store', 'postgres'])(
    'of an unavailable dependency (%s) is a 503 with a time to retry, and a read does not say that it enqueues',
    async (what) => {
      const path = `/throws/${what}`;
      const answers = [await http().post(path), await http().get(path)];
      expect(answers.map(({ status, body, headers }) => [status, body.code, headers['retry-after']])).toEqual(
        [
          [503, 'enqueue_unavailable', '5'],
          [503, 'service_unavailable', '5'],
        ],
      );
      expect((await http().head(path)).headers['link']).toContain('/service_unavailable>');
      expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain('10.0.0');
    },
  );

  it.each(['bug', 'text'])(
    'of a bug (%s) is a 500 without internal details, and is logged with the request',
    async (what) => {
      lines.length = 0;
      const { status, body } = await http().get(`/throws/${what}`);
      expect([status, body.code]).toEqual([500, 'internal_error']);
      expect(JSON.stringify(body)).not.toMatch(/canary|TypeError|\.ts/);
      expect(lines.map((line) => JSON.parse(line))).toContainEqual(
        expect.objectContaining({ level: 50, requestId: body.requestId, code: 'internal_error' }),
      );
    },
  );

  it('for an unknown or undecodable path is a 404', async () => {
    for (const path of ['/nowhere', '/throws/%E0%A4%A']) {
      const { status, body } = await http().get(path).set('x-api-key', 'good');
      expect([path, status, body.code]).toEqual([path, 404, 'not_found']);
      expect(body.detail).toBe('No route has this path: compare it with /openapi.json');
    }
  });
});

describe('a route', () => {
  it('passes its caller to the handler after authentication', async () => {
    const { status, body } = await http().get('/keys-only').set('x-api-key', 'good');
    expect([status, body]).toEqual([200, principal('apiKey')]);
  });

  it.each([[{}], [{ 'x-api-key': 'garbage' }], [{ 'x-api-key': '' }], [{ authorization: 'Bearer good' }]])(
    'answers 401 to %j, whatever it accepts',
    async (headers) => {
      for (const path of ['/keys-only', '/undeclared']) {
        const { status, body } = await http().get(path).set(headers);
        expect([status, body.code]).toEqual([401, 'unauthenticated']);
      }
    },
  );

  it.each([
    ['/keys-only', {}, 'ApiKey realm="api"'],
    ['/keys-only', { authorization: 'Bearer good' }, 'ApiKey realm="api"'],
    ['/scoped', {}, 'ApiKey realm="api", Bearer realm="api"'],
    ['/scoped', { 'x-api-key': 'garbage' }, 'ApiKey realm="api", Bearer realm="api"'],
    [
      '/scoped',
      { authorization: 'bearer garbage' },
      'ApiKey realm="api", Bearer realm="api", error="invalid_token"',
    ],
    ['/undeclared', {}, 'ApiKey realm="api"'],
  ])('names in WWW-Authenticate what it accepts: %s with %j', async (path, headers, challenge) => {
    expect((await http().get(path).set(headers)).headers['www-authenticate']).toBe(challenge);
  });

  it.each([
    [{ authorization: 'Bearer ek_live_Ab3dE6gH_4rT9vXk2' }, 'An API key goes into x-api-key'],
    [{ 'x-api-key': 'eyJhbGciOiJFZERTQSJ9.e30.c2ln' }, 'A bearer token goes into'],
    [{ 'x-api-key': 'Bearer eyJhbGciOiJFZERTQSJ9.e30.c2ln' }, 'A bearer token goes into'],
    [{ 'x-api-key': 'ended' }, 'Send a valid API key in x-api-key'],
  ])('says of %j, if it is in the wrong header, which is the right one', async (headers, detail) => {
    const { status, body } = await http().get('/scoped').set(headers);
    expect([status, body.code]).toEqual([401, 'unauthenticated']);
    expect(body.detail).toContain(detail);
  });

  it('answers 403 to an authenticated caller whose mode it does not accept', async () => {
    const { status, body } = await http()
      .get('/keys-only')
      .set('authorization', 'Bearer scopes.webhooks-read');
    expect([status, body.code]).toEqual([403, 'auth_mode_not_allowed']);
  });

  it.each([
    ['a bearer token', 'user:u', (scopes: string) => ({ authorization: `Bearer ${scopes}` })],
    ['an API key', 'apiKey:k', (scopes: string) => ({ 'x-api-key': scopes })],
  ])('accepts %s within its scopes, and names a missing one', async (_, actor, credentials) => {
    const call = (method: 'get' | 'post', ...scopes: string[]) => {
      const request = method === 'get' ? http().get('/scoped') : http().post('/scoped');
      return request.set(credentials(`scopes.${scopes.join('.')}`));
    };
    expect((await call('get', 'webhooks-read')).body).toEqual({ actor });
    expect((await call('post', 'credits-write', 'webhooks-write')).status).toBe(201);
    const refused = [
      ['get', 'webhooks-write'],
      ['post', 'webhooks-read'],
      ['get', 'credits-read'],
    ] as const;
    for (const [method, scope] of refused) {
      const { status, body } = await call(method, scope);
      const needed = method === 'get' ? 'webhooks:read' : 'webhooks:write';
      expect([status, body.code, body.scope]).toEqual([403, 'scope_missing', needed]);
      expect(body.detail).toContain(needed);
    }
  });

  it('checks only the API key when both are sent', async () => {
    const both = (key: string) =>
      http().get('/scoped').set({ 'x-api-key': key, authorization: 'Bearer scopes.webhooks-read' });
    expect((await both('garbage')).status).toBe(401);
    expect((await both('good')).body).toEqual({ actor: 'apiKey:k' });
  });

  it('counts a token that cannot be checked now against the address, like a wrong one', async () => {
    const left = [null, null, new Problem('rate_limited')];
    refuse(() => left.shift() ?? null);
    const statuses = [];
    for (let n = 0; n < 3; n += 1)
      statuses.push((await http().get('/scoped').set('authorization', 'Bearer unjudged')).status);
    refuse(() => null);
    expect(statuses).toEqual([503, 503, 429]);
  });

  it('tells the holder of a key that it does not work from here, and counts that against the address', async () => {
    const elsewhere = () => http().get('/keys-only').set('x-api-key', 'elsewhere');
    const ended = await http().get('/keys-only').set('x-api-key', 'ended');
    expect([ended.status, ended.body.code]).toEqual([401, 'unauthenticated']);
    refuse(() => null);
    const { status, body } = await elsewhere();
    expect([status, body.code]).toEqual([403, 'network_not_allowed']);
    refuse(() => new Problem('rate_limited'));
    expect((await elsewhere()).status).toBe(429);
    refuse(() => null);
  });

  it('that held a request refuses it like a new one when the key has ended meanwhile', async () => {
    const held = (key: string) => http().get('/held').set('x-api-key', key);
    expect((await held('good')).body).toEqual({ given: true });
    const { status, headers, body } = await held('ends.1');
    expect([status, body.code, headers['www-authenticate']]).toEqual([
      401,
      'unauthenticated',
      'ApiKey realm="api"',
    ]);
    refuse(() => new Problem('rate_limited'));
    expect((await held('ends.2')).status).toBe(429);
    refuse(() => null);
  });

  it('judges a key by the address of the caller, in IPv4 where it is one, and by no header', async () => {
    const { body } = await http()
      .post('/scoped')
      .set({ 'x-api-key': 'whence', 'x-forwarded-for': '198.51.100.7' });
    expect(body).toEqual({ actor: 'apiKey:127.0.0.1' });
  });

  it('that declares nothing refuses everyone', async () => {
    for (const headers of [{ 'x-api-key': 'good' }, { authorization: 'Bearer scopes.webhooks-read' }]) {
      const { status, text } = await http().get('/undeclared').set(headers);
      expect(status).toBe(403);
      expect(text).not.toContain('secret');
    }
  });
});

describe('sendJson', () => {
  it('sends a strong ETag, and keeps the bytes out of caches', async () => {
    const { status, text, headers } = await http().get('/bytes');
    expect([status, text]).toEqual([200, '{"a":1}']);
    expect(headers).toMatchObject({
      etag: '"015abd7f5cc57a2dd94b7590f04ad808"',
      'cache-control': 'no-store',
    });
    expect(headers['content-type']).toBe('application/json');
  });

  it.each([
    '"015abd7f5cc57a2dd94b7590f04ad808"',
    'W/"015abd7f5cc57a2dd94b7590f04ad808"',
    '"x", "015abd7f5cc57a2dd94b7590f04ad808"',
    // As Apache marks what it compresses.
    '"015abd7f5cc57a2dd94b7590f04ad808-gzip"',
    'W/"x",W/"015abd7f5cc57a2dd94b7590f04ad808-br"',
    '*',
  ])('answers 304 without a body to If-None-Match: %s', async (condition) => {
    const { status, text, headers } = await http().get('/bytes').set('if-none-match', condition);
    expect([status, text]).toEqual([304, '']);
    expect(headers.etag).toBe('"015abd7f5cc57a2dd94b7590f04ad808"');
  });

  it('tells the size to HEAD, as to GET', async () => {
    const head = await http().head('/bytes');
    expect([head.status, head.headers['content-length']]).toEqual([200, '7']);
    expect((await http().get('/bytes')).headers['content-length']).toBe('7');
  });

  it.each(['"x"', '"015abd7f5cc57a2dd94b7590f04ad808-2"', '015abd7f5cc57a2dd94b7590f04ad808'])(
    'sends the bytes when the caller has different ones: %s',
    async (condition) => {
      expect((await http().get('/bytes').set('if-none-match', condition)).status).toBe(200);
    },
  );
});

describe('behind one reverse proxy', () => {
  const behind = httpUnderTest(1);

  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['203.0.113.7, 198.51.100.7', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['[2001:DB8::1]:4711', '2001:db8::1'],
    ['not an address', '127.0.0.1'],
  ])('a key is judged by the address that the proxy wrote: %s', async (forwarded, from) => {
    const { body } = await behind
      .http()
      .post('/scoped')
      .set({ 'x-api-key': 'whence', 'x-forwarded-for': forwarded });
    expect(body).toEqual({ actor: `apiKey:${from}` });
  });
});
