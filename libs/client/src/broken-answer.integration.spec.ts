import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ReadingServiceClient, ServiceUnreachable, type ClientOptions } from './index.js';

type Answer = (response: ServerResponse) => void;

let server: Server | undefined;
const requests: IncomingMessage[] = [];

afterEach(async () => {
  server?.closeAllConnections();
  if (server) await new Promise((resolve) => server!.close(resolve));
  server = undefined;
  requests.length = 0;
});

/** A service that sends these responses one after another and repeats the last one. */
const service = async (
  answers: readonly Answer[],
  options: Partial<ClientOptions> = {},
): Promise<ReadingServiceClient> => {
  server = createServer((request, response) => {
    requests.push(request);
    const place = Math.min(requests.length, answers.length) - 1;
    request.resume().on('end', () => answers[place]!(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return new ReadingServiceClient({
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: 'k',
    longestPauseMs: 20,
    ...options,
  });
};

const begun = (response: ServerResponse): ServerResponse => {
  response.writeHead(200, { 'content-type': 'application/json' }).write('{"readingId":');
  return response;
};
const cutOff: Answer = (response) =>
  void begun(response).write('"r', () => setTimeout(() => response.destroy(), 20));
const stalled: Answer = (response) => void begun(response);
const json =
  (body: object): Answer =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json', etag: '"1"' }).end(JSON.stringify(body));
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const keys = (): Set<unknown> => new Set(requests.map(({ headers }) => headers['idempotency-key']));

describe('An answer that does not arrive whole', () => {
  it.each<[string, Answer, Partial<ClientOptions>]>([
    ['cut off in its body', cutOff, {}],
    // The second answer must come within the limit, on a busy machine, too.
    ['whose end never comes', stalled, { timeoutMs: 3_000 }],
  ])('%s is requested again, with the same key', async (_, broken, options) => {
    const client = await service([broken, json({ readingId: 'r' })], options);
    expect(await client.readings.create({} as never)).toEqual({ readingId: 'r' });
    expect([requests.length, keys().size]).toEqual([2, 1]);
  });

  it.each<[string, (client: ReadingServiceClient) => Promise<unknown>]>([
    ['credits', (client) => client.credits()],
    ['a tree', ({ readings }) => readings.document('r', 'document_v1')],
    ['Markdown', ({ readings }) => readings.document('r', 'markdown')],
    ['a PDF', ({ readings }) => readings.document('r', 'pdf')],
  ])('fails as no answer once %s were asked for often enough', async (_, call) => {
    const client = await service([cutOff]);
    expect(await failureOf(call(client))).toBeInstanceOf(ServiceUnreachable);
    expect(requests).toHaveLength(4);
  });

  it('leaves the outcome of a change open', async () => {
    const client = await service([cutOff]);
    expect(await failureOf(client.webhooks.update('we_1', {}))).toBeInstanceOf(ServiceUnreachable);
    expect(requests).toHaveLength(1);
  });

  it('reaches the reader of a stream, who has its beginning', async () => {
    const client = await service([cutOff]);
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
    const client = await service([stalled]);
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
    const client = await service([refused], { longestPauseMs: 30_000 });
    expect(await failureOf(client.credits({ signal: controller.signal }))).toBe(reason);
    expect(requests).toHaveLength(1);
  });

  it('in the pause between two looks at a reading', async () => {
    const completed = { status: 'completed', erasedAt: null, document: { available: false } };
    const client = await service([json(completed)]);
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 100);
    expect(await failureOf(client.readings.waitUntilDone('r', { signal: controller.signal }))).toBe(reason);
  });
});
