import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Integrator, person } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';
import { BODIES, RAW } from './support/malformed-readings.js';

let stack: Stack;
let customer: Integrator;
let other: Integrator;

beforeAll(async () => {
  stack = await sharedStack();
  [customer, other] = await Promise.all([Integrator.open(stack, 1_000), Integrator.open(stack, 30)]);
});

afterAll(async () => {
  await stack?.stop();
});

describe('POST /readings refuses', () => {
  it.each(BODIES)('%s', async (_, change, code, errors) => {
    const answer = await customer.create(change(person()));
    expect([answer.status, answer.body['code']]).toEqual([400, code]);
    expect(answer.headers.get('content-type')).toBe('application/problem+json');
    const found = (answer.body['errors'] as { pointer: string; code: string }[]).map((error) => [
      error.pointer,
      error.code,
    ]);
    expect(found.sort()).toEqual([...errors].sort());
    expect(answer.body['requestId']).toBe(answer.headers.get('x-request-id'));
  });

  it.each(RAW)('%s', async (_, raw, code) => {
    const answer = await customer.call('POST', '/api/v1/readings', { raw });
    expect([answer.status, answer.body['code']]).toEqual([400, code]);
  });

  it('without repeating a submitted value', async () => {
    const body = {
      ...person('Zzyzx9'),
      dateOfBirth: '1987-13-45',
      locale: 'qq-QQ',
      grammaticalProfile: { subjectGender: 'wibble' },
    };
    const answer = await customer.create(body);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).not.toMatch(/Zzyzx|1987|qq-QQ|wibble/);
  });

  it('a body that is too large, before anything else', async () => {
    const answer = await customer.call('POST', '/api/v1/readings', {
      raw: JSON.stringify({ padding: 'x'.repeat(17 * 1024) }),
      headers: { 'x-api-key': 'nonsense' },
    });
    expect([answer.status, answer.body['code']]).toEqual([413, 'payload_too_large']);
  });

  it('another media type', async () => {
    const answer = await customer.call('POST', '/api/v1/readings', {
      raw: JSON.stringify(person()),
      headers: { 'content-type': 'text/plain' },
    });
    expect([answer.status, answer.body['code']]).toEqual([415, 'unsupported_media_type']);
  });

  it('a reading that the credits do not cover, and holds none', async () => {
    const first = await other.create(person());
    expect(first.status).toBe(202);
    const second = await other.create(person());
    expect(second.status).toBe(402);
    expect(second.body).toMatchObject({ code: 'insufficient_credits', required: 20, available: 10 });
  });
});

describe('credentials', () => {
  it.each([
    ['none', {}],
    ['nonsense', { 'x-api-key': 'nonsense' }],
    ['a key with a wrong checksum', { 'x-api-key': `ek_live_${'a'.repeat(8)}_${'b'.repeat(38)}` }],
    ['a garbage bearer', { authorization: 'Bearer x.y.z' }],
  ])('%s: 401, always with the same body', async (_, headers) => {
    const response = await fetch(`${stack.baseUrl}/api/v1/readings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(headers as Record<string, string>) },
      body: JSON.stringify(person()),
    });
    const body = (await response.json()) as Record<string, unknown>;
    expect(response.status).toBe(401);
    expect({ ...body, instance: null, requestId: null }).toEqual({
      type: 'urn:problem:unauthenticated',
      title: 'Authentication is missing or invalid',
      status: 401,
      code: 'unauthenticated',
      detail: 'Send a valid API key in x-api-key, or a bearer token where it is accepted',
      instance: null,
      requestId: null,
    });
  });

  it('a revoked key stops working within five seconds, even without a worker to project it', async () => {
    const { keyId, apiKey } = (await stack.ops(['key', 'issue', '--workspace', customer.workspaceId])) as {
      keyId: string;
      apiKey: string;
    };
    const use = async () =>
      (await customer.call('GET', '/api/v1/credits', { headers: { 'x-api-key': apiKey } })).status;
    expect(await use()).toBe(200);
    process.kill(stack.pids().worker, 'SIGSTOP');
    try {
      await stack.ops(['key', 'revoke', '--key', keyId]);
      const deadline = Date.now() + 5_000;
      while ((await use()) === 200 && Date.now() < deadline)
        await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await use()).toBe(401);
    } finally {
      process.kill(stack.pids().worker, 'SIGCONT');
    }
  });

  it('of another workspace do not open a reading, a result or a document: 403', async () => {
    const { body } = await customer.create(person());
    for (const path of ['', '/result', '/document?format=pdf']) {
      const answer = await other.call('GET', `/api/v1/readings/${body.readingId}${path}`);
      expect([path, answer.status, answer.body['code']]).toEqual([path, 403, 'wrong_workspace']);
    }
  });
});

describe('an unknown object', () => {
  it.each(['00000000-0000-4000-8000-000000000000', 'nonsense', '%00', "1'%20or%20'1'='1"])(
    'reading %s: 404',
    async (id) => {
      for (const path of ['', '/result', '/document?format=pdf']) {
        const answer = await customer.call('GET', `/api/v1/readings/${id}${path}`);
        expect([path, answer.status, answer.body['code']]).toEqual([path, 404, 'reading_not_found']);
      }
    },
  );

  it('an unknown route is 404, and an unknown format 400', async () => {
    expect((await customer.call('GET', '/api/v1/nothing')).body['code']).toBe('not_found');
    const { body } = await customer.create(person());
    for (const [query, code] of [
      ['', 'invalid_format'],
      ['?format=docx', 'invalid_format'],
      ['?format=pdf&format=markdown', 'validation_failed'],
    ]) {
      const answer = await customer.call('GET', `/api/v1/readings/${body.readingId}/document${query}`);
      expect([answer.status, answer.body['code'], answer.body['errors']]).toEqual([
        400,
        code,
        [expect.objectContaining({ pointer: '?format' })],
      ]);
    }
  });
});

describe('an Idempotency-Key', () => {
  it('repeats the first answer for the same body, and holds once', async () => {
    const before = await customer.balance();
    const headers = { 'idempotency-key': 'order-1' };
    const first = await customer.create(person('Anaïs'), headers);
    const again = await customer.create(person('Anaïs'), headers);
    expect([first.status, again.status]).toEqual([202, 202]);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
    const after = await customer.balance();
    expect(before.available - after.available).toBe(20);
  });

  it('is refused with another body: 422', async () => {
    const headers = { 'idempotency-key': 'order-2' };
    await customer.create(person('Anaïs'), headers);
    const other = await customer.create(person('Inès'), headers);
    expect([other.status, other.body['code']]).toEqual([422, 'idempotency_key_reused']);
  });

  it('sent fifty times at once makes one reading and one hold', async () => {
    const before = await customer.balance();
    const headers = { 'idempotency-key': 'order-3' };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => customer.create(person('Anaïs'), headers)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect(new Set(answers.map(({ body }) => body.readingId)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1);
    expect(before.available - (await customer.balance()).available).toBe(20);
  });

  it('must be printable ASCII', async () => {
    const answer = await customer.create(person(), { 'idempotency-key': 'x'.repeat(256) });
    expect([answer.status, answer.body['code']]).toEqual([400, 'validation_failed']);
  });
});

describe('a hundred concurrent requests on a hundred credits', () => {
  it('give five readings and ninety-five refusals', async () => {
    const poor = await Integrator.open(stack, 100);
    const answers = await Promise.all(Array.from({ length: 100 }, () => poor.create(person())));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(95);
  });
});
