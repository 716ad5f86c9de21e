/**
 * Makes attempts in a process of its own, which has its own memory and environment. Any name is this machine.
 *   attempts.js TIMEOUT_MS REPEATS URL…
 * Prints one line of JSON: the result of each URL's last attempt, and by how many bytes the process grew at the most.
 */
import { PinnedConnections } from '@app/webhooks/processes/dispatch/pinned-connections.js';
import { Sender } from '@app/webhooks/processes/dispatch/sender.js';
import type { AttemptResult } from '@app/webhooks/domain/delivery/attempt-result.js';

export interface Attempts {
  readonly results: readonly Pick<AttemptResult, 'error' | 'statusCode'>[];
  readonly grownBytes: number;
}

const [timeout, repeats, ...urls] = process.argv.slice(2);
const exchangeTimeoutMs = Number(timeout);
const allowCidrs = ['127.0.0.0/8'];
const limits = { connectTimeoutMs: 5_000, exchangeTimeoutMs, perReceiver: 16, allowCidrs, proxy: null };
const policy = { allowHttp: true, allowCidrs };
const sender = new Sender(
  new PinnedConnections(limits),
  async () => ['127.0.0.1'],
  policy,
  exchangeTimeoutMs,
  Date.now,
);

const attempt = async (url: string): Promise<Attempts['results'][number]> => {
  const result = await sender.send({ endpointId: 'we_a', url, headers: {}, body: Buffer.from('{}') });
  if (result === 'cut off') throw new Error('nobody cuts attempts off here');
  return { error: result.error, statusCode: result.statusCode };
};

const before = process.memoryUsage.rss();
let most = before;
const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
const results = await Promise.all(
  urls.map(async (url) =>
    (await Promise.all(Array.from({ length: Number(repeats) }, () => attempt(url)))).at(-1)!,
  ),
);
clearInterval(watch);
const attempts: Attempts = { results, grownBytes: most - before };
process.stdout.write(`${JSON.stringify(attempts)}\n`);
process.exit(0);
