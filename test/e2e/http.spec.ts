import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Integrator, person, untilHandled } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';

let stack: Stack;
let customer: Integrator;

beforeAll(async () => {
  stack = await sharedStack();
  customer = await Integrator.open(stack, 10_000);
});

afterAll(async () => {
  await stack?.stop();
});

const call = (
  method: string,
  path: string,
  { body, ...headers }: Record<string, string> = {},
  as = customer,
) =>
  fetch(`${stack.baseUrl}/api/v1${path}`, {
    method,
    headers: { 'x-api-key': as.apiKey, ...(body && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body }),
  });
const json = async (answer: Response) => (await answer.json()) as Record<string, unknown>;

describe('A method that a path does not have', () => {
  it.each([
    ['DELETE', '/readings', 'GET, HEAD, POST'],
    ['PUT', `/readings/${randomUUID()}`, 'GET, HEAD'],
    ['POST', `/readings/${randomUUID()}/result`, 'GET, HEAD'],
    ['POST', '/credits', 'GET, HEAD'],
    ['PUT', '/webhooks', 'GET, HEAD, POST'],
    ['POST', `/webhooks/we_${randomUUID()}`, 'DELETE, GET, HEAD, PATCH'],
  ])('%s %s is answered 405 with the allowed methods', async (method, path, allow) => {
    const answer = await call(method, path);
    expect([answer.status, answer.headers.get('allow'), (await json(answer))['code']]).toEqual([
      405,
      allow,
      'method_not_allowed',
    ]);
  });

  it('is answered 404 on an unknown path', async () => {
    const answer = await call('DELETE', '/horoscopes');
    expect([answer.status, answer.headers.get('allow')]).toEqual([404, null]);
  });
});

describe('A connection', () => {
  it('stays open for longer than load balancers keep idle ones', async () => {
    const { headers } = await fetch(`${stack.baseUrl}/healthz`);
    expect(headers.get('keep-alive')).toBe('timeout=75');
  });
});

describe('Accept', () => {
  it.each([
    ['/readings', 'text/html'],
    ['/credits', 'application/xml'],
    [`/readings/${randomUUID()}/document?format=pdf`, 'image/png'],
  ])('is refused: %s as %s', async (path, accept) => {
    const answer = await call('GET', path, { accept });
    expect([answer.status, (await json(answer))['code']]).toEqual([406, 'not_acceptable']);
  });

  it('is disregarded when it is very long', async () => {
    const { status } = await call('GET', '/readings', { accept: 'text/html,'.repeat(1_000) });
    expect(status).toBe(200);
  });

  it('may name the media type of a schema', async () => {
    const schema = await fetch(`${stack.baseUrl}/schemas/result.json`, {
      headers: { accept: 'application/schema+json' },
    });
    expect(schema.status).toBe(200);
  });

  it.each([
    '*/*',
    'application/*',
    'application/json;q=0.2, text/html',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8, text/plain',
  ])('is accepted: %s', async (accept) => {
    expect((await call('GET', '/credits', { accept })).status).toBe(200);
  });

  it('may name the media type of a document', async () => {
    const path = `/readings/${randomUUID()}/document?format=markdown`;
    expect((await call('GET', path, { accept: 'text/markdown; charset=utf-8' })).status).toBe(404);
  });
});

describe('Prefer: wait', () => {
  it('holds the request until the state changes, and no longer', async () => {
    process.kill(stack.pids().worker, 'SIGSTOP');
    const { body } = await customer.create(person());
    const held = call('GET', `/readings/${body.readingId}`, { prefer: 'respond-async, wait=30' });
    const unheld = await json(await call('GET', `/readings/${body.readingId}`));
    expect(unheld['status']).toBe('queued');
    process.kill(stack.pids().worker, 'SIGCONT');
    const answer = await held;
    expect(answer.headers.get('preference-applied')).toBe('wait=30');
    expect((await json(answer))['status']).not.toBe('queued');
  });

  it('answers with the current state when the time is up, or when the reading has ended', async () => {
    process.kill(stack.pids().worker, 'SIGSTOP');
    const { body } = await customer.create(person());
    const answer = await call('GET', `/readings/${body.readingId}`, { prefer: 'wait=1' });
    process.kill(stack.pids().worker, 'SIGCONT');
    expect((await json(answer))['status']).toBe('queued');
    await customer.untilEnded(body.readingId);
    const ended = await call('GET', `/readings/${body.readingId}`, { prefer: 'wait=86400' });
    expect(ended.headers.get('preference-applied')).toBe('wait=60');
    expect((await json(ended))['status']).toBe('completed');
  });
});

describe('The list of readings', () => {
  it('shows each once without its input, newest first, over pages that new readings do not disturb', async () => {
    const owner = await Integrator.open(stack, 400);
    const made: string[] = [];
    for (let n = 0; n < 7; n += 1) made.push((await owner.create(person())).body.readingId);
    for (const id of made) await owner.untilEnded(id);

    const seen: string[] = [];
    let path = '/readings?limit=3';
    for (let page = 0; page < 3; page += 1) {
      const { data, nextCursor } = (await json(await call('GET', path, {}, owner))) as {
        data: { readingId: string; status: string }[];
        nextCursor: string | null;
      };
      seen.push(...data.map(({ readingId }) => readingId));
      expect(data.every((reading) => reading.status === 'completed' && !('input' in reading))).toBe(true);
      if (page === 0) await owner.create(person());
      expect(nextCursor === null).toBe(page === 2);
      path = `/readings?limit=3&cursor=${nextCursor ?? ''}`;
    }
    expect(seen).toEqual(made.reverse());
  });

  it('belongs to one workspace, as do its cursors', async () => {
    const [owner, other] = [await Integrator.open(stack, 400), await Integrator.open(stack, 400)];
    for (const one of [owner, owner, other])
      await one.untilEnded((await one.create(person())).body.readingId);
    const { data, nextCursor } = (await json(await call('GET', '/readings?limit=1', {}, owner))) as {
      data: { workspaceId: string }[];
      nextCursor: string;
    };
    expect(data.map(({ workspaceId }) => workspaceId)).toEqual([owner.workspaceId]);
    for (const path of [
      `/readings?limit=1&cursor=${nextCursor}`,
      `/readings?status=failed&cursor=${nextCursor}`,
    ]) {
      const answer = await call('GET', path, {}, path.includes('failed') ? owner : other);
      expect([answer.status, (await json(answer))['code']]).toEqual([400, 'validation_failed']);
    }
  });

  it('can be filtered by state; the refusal of an unknown state lists them', async () => {
    const failed = (await json(await call('GET', '/readings?status=failed'))) as { data: unknown[] };
    expect(failed.data).toEqual([]);
    const answer = await json(await call('GET', '/readings?status=done'));
    expect(answer['errors']).toEqual([
      {
        pointer: '?status',
        code: 'invalid_value',
        detail: 'must be one of queued, processing, completed, failed',
      },
    ]);
  });
});

describe('Idempotency-Key on any POST', () => {
  const endpoint = (description: string) =>
    JSON.stringify({ url: 'https://receiver.example/hook', events: ['reading.completed'], description });
  const create = (key: string, description = 'a') =>
    call('POST', '/webhooks', { body: endpoint(description), 'idempotency-key': key });
  const count = async () => ((await json(await call('GET', '/webhooks'))) as { data: unknown[] }).data.length;

  it('repeats the first answer, without secrets that are shown once', async () => {
    const before = await count();
    const key = randomUUID();
    const first = await create(key);
    const again = await create(key);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    const { signingSecret, ...rest } = await json(first);
    expect(signingSecret).toMatch(/^whsec_/);
    expect(await json(again)).toEqual(rest);
    await untilHandled(stack);
    expect(await count()).toBe(before + 1);
  });

  it('refuses another body under the same key, and a malformed key', async () => {
    const key = randomUUID();
    await create(key);
    const other = await create(key, 'b');
    expect([other.status, (await json(other))['code']]).toEqual([422, 'idempotency_key_reused']);
    expect((await create('x'.repeat(256))).status).toBe(400);
  });

  it('lets one of many concurrent requests through, and asks the others to retry', async () => {
    const before = await count();
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(key)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.every((status) => status === 201 || status === 409)).toBe(true);
    const firsts = answers.filter(
      ({ status, headers }) => status === 201 && headers.get('idempotency-replayed') === null,
    );
    expect(firsts).toHaveLength(1);
    for (const { headers } of answers.filter(({ status }) => status === 409))
      expect(headers.get('retry-after')).toBe('1');
    expect((await create(key)).headers.get('idempotency-replayed')).toBe('true');
    await untilHandled(stack);
    expect(await count()).toBe(before + 1);
  });

  it('keeps nothing of a request that was refused', async () => {
    const key = randomUUID();
    const refused = await call('POST', '/webhooks', { body: '{"url":"nonsense"}', 'idempotency-key': key });
    expect(refused.status).toBe(400);
    expect((await create(key)).status).toBe(201);
  });
});
