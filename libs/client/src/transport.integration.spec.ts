import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ProblemError, ReadingServiceClient, ServiceUnreachable, type ClientOptions } from './index.js';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

let server: Server | undefined;
const requests: IncomingMessage[] = [];
const bodies: string[] = [];

afterEach(async () => {
  jest.restoreAllMocks();
  server?.closeAllConnections();
  if (server) await new Promise((resolve) => server!.close(resolve));
  server = undefined;
  requests.length = 0;
  bodies.length = 0;
});

/** A service that sends these responses one after another and repeats the last one. */
const serviceWith = async (
  options: Partial<ClientOptions>,
  ...answers: readonly Answer[]
): Promise<ReadingServiceClient> => {
  server = createServer((request, response) => {
    requests.push(request);
    const place = requests.length - 1;
    bodies[place] = '';
    request.on('data', (part: Buffer) => (bodies[place] += part.toString()));
    request.on('end', () => answers[Math.min(place, answers.length - 1)]!(response, request));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/`;
  return new ReadingServiceClient({
    baseUrl,
    apiKey: 'k',
    timeoutMs: 30_000,
    longestPauseMs: 20,
    ...options,
  });
};
const service = (...answers: readonly Answer[]) => serviceWith({}, ...answers);

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const problem = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  json(
    status,
    { type: 'about:blank', title: 'Sorry', status, code, instance: '/', requestId: 'req_1' },
    headers,
  );
const noAnswer: Answer = (response) => void response.destroy();
const begun = (response: ServerResponse): ServerResponse => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"readingId":');
  return response;
};
const cutOff: Answer = (response) =>
  void begun(response).write('"r', () => setTimeout(() => response.destroy(), 20));
const stalled: Answer = (response) => void begun(response);
const credits = { available: 20, reserved: 0, grants: [] };
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const sent = (header: string): unknown[] => requests.map(({ headers }) => headers[header]);

it.each(['', '.', '..'])('asks no other route for the id "%s"', async (id) => {
  const client = await service(json(200, { data: [] }));
  expect(await failureOf(client.readings.get(id))).toBeInstanceOf(TypeError);
  expect(await failureOf(client.webhooks.delete(id))).toBeInstanceOf(TypeError);
  expect(requests).toEqual([]);
});

describe('The client', () => {
  it.each([
    ['408', (response) => response.writeHead(408, { connection: 'close' }).end()],
    ['429', problem(429, 'rate_limited', { 'retry-after': '0' })],
    ['503', problem(503, 'service_unavailable')],
    ['500', problem(500, 'internal_error')],
    ['a gateway’s 502', (response) => response.writeHead(502).end('<h1>Bad gateway</h1>')],
    ['no answer', noAnswer],
  ])('retries after %s', async (_, passing) => {
    const client = await service(passing, passing, json(200, credits));
    expect(await client.credits()).toEqual(credits);
    expect(requests).toHaveLength(3);
  });

  it('retries a POST with the same key, and uses a new key for each call', async () => {
    const client = await service(noAnswer, problem(500, 'internal_error'), json(202, { readingId: 'r' }));
    await client.readings.create({} as never);
    await client.readings.create({} as never);
    const [first, again, last, other] = sent('idempotency-key');
    expect(first).toMatch(/^[\w-]{36}$/);
    expect([again === first, last === first, other === first]).toEqual([true, true, false]);
  });

  it('retries beyond its attempts while its own key is in progress', async () => {
    const busy = problem(409, 'idempotency_in_progress', { 'retry-after': '0' });
    const client = await service(noAnswer, busy, busy, busy, busy, busy, json(202, { readingId: 'r' }));
    expect(await client.readings.create({} as never)).toEqual({ readingId: 'r' });
    expect(new Set(sent('idempotency-key')).size).toBe(1);
  });

  it('makes a single attempt if configured so, even when a key is in progress', async () => {
    const busy = problem(409, 'idempotency_in_progress', { 'retry-after': '0' });
    const client = await serviceWith({ attempts: 1 }, busy);
    await failureOf(client.readings.create({} as never));
    expect(requests).toHaveLength(1);
  });

  const own = { idempotencyKey: 'order-4711' };
  it.each<[string, (client: ReadingServiceClient) => Promise<unknown>]>([
    ['readings.create', ({ readings }) => readings.create({} as never, own)],
    ['webhooks.create', ({ webhooks }) => webhooks.create({ url: 'https://x.example' }, own)],
    ['webhooks.rotateSecret', ({ webhooks }) => webhooks.rotateSecret('we_1', own)],
  ])('sends the key passed to %s', async (_, call) => {
    const client = await service(json(201, { signingSecret: 'whsec_1' }));
    await call(client);
    expect(sent('idempotency-key')).toEqual(['order-4711']);
  });

  it('throws a refusal at once, with code, status, request id and the page that explains it', async () => {
    const client = await service(problem(402, 'insufficient_credits', { link: '</help>; rel="help"' }));
    const error = await failureOf(client.readings.create({} as never));
    expect(error).toBeInstanceOf(ProblemError);
    const help = expect.stringMatching(/^http:.*\d\/help$/);
    expect(error).toMatchObject({ code: 'insufficient_credits', status: 402, requestId: 'req_1', help });
    expect(requests).toHaveLength(1);
  });

  it('gives up after the last attempt, and reports its response', async () => {
    const client = await service(problem(503, 'service_unavailable', { 'retry-after': '0' }));
    expect(await failureOf(client.credits())).toMatchObject({ status: 503, retryAfterSeconds: 0 });
    expect(requests).toHaveLength(4);
  });

  it('never retries earlier than the service says, and gives up if the pause is too long', async () => {
    const client = await service(problem(503, 'service_unavailable', { 'retry-after': '7' }));
    expect(await failureOf(client.credits())).toMatchObject({ status: 503, retryAfterSeconds: 7 });
    expect(requests).toHaveLength(1);
  });

  it('accepts a date in Retry-After, as gateways send it', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const client = await service((response) => response.writeHead(503, { 'retry-after': date }).end());
    const { retryAfterSeconds } = (await failureOf(client.credits())) as ProblemError;
    expect(retryAfterSeconds).toBeGreaterThan(3_000);
    expect(requests).toHaveLength(1);
  });

  it('ignores a Retry-After that is unreadable or in the past', async () => {
    const at = (time: string): Answer => problem(503, 'service_unavailable', { 'retry-after': time });
    const client = await service(at('soon'), at(new Date(0).toUTCString()), json(200, credits));
    expect(await client.credits()).toEqual(credits);
  });

  it('reports a missing response', async () => {
    const client = await service(noAnswer);
    const failure = (await failureOf(client.credits())) as Error;
    expect(failure).toBeInstanceOf(ServiceUnreachable);
    expect(failure.message).toMatch(/^GET http:\/\/127\.0\.0\.1:\d+\/api\/v1\/credits had no answer$/);
    expect(requests).toHaveLength(4);
  });

  it.each<[string, Answer]>([
    ['no answer', noAnswer],
    ['504', (response) => response.writeHead(504).end()],
  ])('does not retry a change with an unknown outcome after %s', async (_, unknown) => {
    const client = await service(unknown, json(200, { endpointId: 'we_1' }));
    expect(await failureOf(client.webhooks.update('we_1', {}, { ifMatch: '"1"' }))).toBeInstanceOf(Error);
    expect(requests).toHaveLength(1);
  });

  it('retries a change after a transient refusal', async () => {
    const busy = await service(problem(503, 'service_unavailable'), json(200, { endpointId: 'we_1' }));
    expect(await busy.webhooks.update('we_1', {})).toEqual({ endpointId: 'we_1' });
  });

  it('counts a 404 after an unanswered deletion as deleted, and reports other 404s', async () => {
    const unsure = await service(noAnswer, problem(404, 'webhook_not_found'));
    expect(await unsure.webhooks.delete('we_1')).toBeUndefined();
    server!.close();
    requests.length = 0;
    const never = await service(problem(429, 'rate_limited'), problem(404, 'webhook_not_found'));
    expect(await failureOf(never.webhooks.delete('we_1'))).toMatchObject({ code: 'webhook_not_found' });
  });

  it('keeps the old secret valid when a caller repeats a creation with its own key', async () => {
    const client = await service(
      json(201, { endpointId: 'we_1' }),
      json(200, { endpointId: 'we_1', signingSecret: 'whsec_2' }),
    );
    await client.webhooks.create({ url: 'https://x.example' }, { idempotencyKey: 'endpoint-1' });
    expect(bodies).toEqual(['{"url":"https://x.example"}', '{}']);
    const [first, second] = sent('idempotency-key');
    expect([first, second === first]).toEqual(['endpoint-1', false]);
  });

  it('reads all pages of a list', async () => {
    const page = (request: IncomingMessage) => new URL(request.url!, 'http://x').searchParams.get('cursor');
    const client = await service((response, request) =>
      json(200, page(request) ? { data: [3], nextCursor: null } : { data: [1, 2], nextCursor: 'c' })(
        response,
        request,
      ),
    );
    const all: unknown[] = [];
    for await (const one of client.readings.list({ status: 'completed', limit: 2 })) all.push(one);
    expect(all).toEqual([1, 2, 3]);
    expect(requests.map(({ url }) => url)).toEqual([
      '/api/v1/readings?status=completed&limit=2',
      '/api/v1/readings?status=completed&limit=2&cursor=c',
    ]);
  });

  it('calls a token function before each request', async () => {
    let made = 0;
    const token = () => `t${(made += 1)}`;
    const client = await serviceWith({ apiKey: '', token }, json(200, { data: [] }));
    await client.keys.list();
    await client.keys.list();
    expect(sent('authorization')).toEqual(['Bearer t1', 'Bearer t2']);
  });

  it('cannot be created without an address and a credential', () => {
    for (const baseUrl of [
      'nowhere',
      '',
      'localhost:3000',
      'https://x.example/api/v1/',
      'https://x.example?a=b',
    ])
      expect(() => new ReadingServiceClient({ baseUrl, apiKey: 'k' })).toThrow(
        `baseUrl must be an http or https URL without /api/v1, such as https://readings.example.com; it is "${baseUrl}"`,
      );
    expect(() => new ReadingServiceClient({ baseUrl: undefined as never, apiKey: 'k' })).toThrow(
      'it is nothing',
    );
    expect(() => new ReadingServiceClient({ baseUrl: 'https://x.example' })).toThrow('apiKey or token');
  });
});

describe('An answer that does not arrive whole', () => {
  it.each<[string, Answer, Partial<ClientOptions>]>([
    ['cut off in its body', cutOff, {}],
    // The second answer must come within the limit, on a busy machine, too.
    ['whose end never comes', stalled, { timeoutMs: 3_000 }],
  ])('%s is requested again, with the same key', async (_, broken, options) => {
    const client = await serviceWith(options, broken, json(200, { readingId: 'r' }));
    expect(await client.readings.create({} as never)).toEqual({ readingId: 'r' });
    expect([requests.length, new Set(sent('idempotency-key')).size]).toEqual([2, 1]);
  });

  it.each<[string, (client: ReadingServiceClient) => Promise<unknown>]>([
    ['credits', (client) => client.credits()],
    ['a PDF', ({ readings }) => readings.document('r', 'pdf')],
  ])('fails as no answer once %s were asked for often enough', async (_, call) => {
    const client = await service(cutOff);
    expect(await failureOf(call(client))).toBeInstanceOf(ServiceUnreachable);
    expect(requests).toHaveLength(4);
  });

  it('reaches the reader of a stream, who has its beginning', async () => {
    const client = await service(cutOff);
    const reader = (await client.readings.documentStream('r', 'markdown')).getReader();
    expect(Buffer.from((await reader.read()).value!).toString()).toMatch(/^\{"readingId":/);
    expect(await failureOf(reader.read().then(() => reader.read()))).toMatchObject({
      message: 'terminated',
    });
    expect(requests).toHaveLength(1);
  });
});

describe('An aborted call rejects with the reason of its signal', () => {
  const reason = new Error('the customer left');

  it('in the middle of an answer', async () => {
    const client = await service(stalled);
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 100);
    expect(await failureOf(client.credits({ signal: controller.signal }))).toBe(reason);
  });

  it('in the pause between two attempts', async () => {
    const controller = new AbortController();
    const refused: Answer = (response) => {
      response.writeHead(503, { 'retry-after': '20' }).end();
      setTimeout(() => controller.abort(reason), 100);
    };
    const client = await serviceWith({ longestPauseMs: 30_000 }, refused);
    expect(await failureOf(client.credits({ signal: controller.signal }))).toBe(reason);
    expect(requests).toHaveLength(1);
  });
});
