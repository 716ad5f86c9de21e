/**
 * Makes attempts in a separate process, with its own memory and environment. Every name resolves to this machine.
 * attempts.js TIMEOUT_MS REPEATS URL…
 * Prints one line of JSON: the results of each URL, the duration of the slowest attempt, and by how many bytes the
 * process grew at most.
 */
import { PinnedConnections } from '#webhooks/processes/dispatch/connections.js';
import { Sender } from '#webhooks/processes/dispatch/sender.js';
import type { AttemptResult } from '#webhooks/domain/attempt.js';
import { ranges } from '#webhooks/domain/webhook-url.js';

type Result = Pick<AttemptResult, 'error' | 'statusCode'>;

export interface Attempts {
  readonly results: readonly (readonly Result[])[];
  readonly slowestMs: number;
  readonly grownBytes: number;
}

const [timeout, repeats, ...urls] = process.argv.slice(2);
const exchangeTimeoutMs = Number(timeout);
const allowCidrs = ranges('127.0.0.0/8');
const limits = {
  connectTimeoutMs: exchangeTimeoutMs,
  allowCidrs,
  proxy: null,
};
const policy = { allowHttp: true, allowCidrs };
const sender = new Sender(
  new PinnedConnections(limits),
  async () => ['127.0.0.1'],
  policy,
  exchangeTimeoutMs,
  Date.now,
);

let slowestMs = 0;
const attempt = async (url: string): Promise<Result> => {
  const begun = performance.now();
  const owner = { workspaceId: 'ws_a', endpointId: 'we_a' };
  const result = await sender.send({ ...owner, url, headers: {}, body: Buffer.from('{}') });
  slowestMs = Math.max(slowestMs, performance.now() - begun);
  if (result === 'cancelled') throw new Error('nothing cancels attempts here');
  return { error: result.error, statusCode: result.statusCode };
};

const before = process.memoryUsage.rss();
let most = before;
const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
const results = await Promise.all(
  urls.map((url) => Promise.all(Array.from({ length: Number(repeats) }, () => attempt(url)))),
);
clearInterval(watch);
const attempts: Attempts = { results, slowestMs, grownBytes: most - before };
process.stdout.write(`${JSON.stringify(attempts)}\n`);
process.exit(0);
