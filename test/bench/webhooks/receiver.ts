/**
 * Webhook receivers in a separate process: one responds at once, one never responds. Prints
 * their ports as one line of JSON. `GET /` on the first returns what it received since the last call.
 */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Deliveries received since the last `GET /`. Times in milliseconds since the epoch. */
export interface Arrivals {
  readonly deliveries: number;
  readonly repeats: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Milliseconds from the insertion of a delivery, which is due at once, to its arrival. */
  readonly latencies: readonly number[];
}

const listen = async (handler: RequestListener): Promise<number> => {
  const server = createServer(handler);
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

const none = { deliveries: 0, repeats: 0, firstAt: 0, lastAt: 0, latencies: [] as number[] };
let arrivals = { ...none };
const seen = new Set<string>();

const prompt: RequestListener = (request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(arrivals));
    arrivals = { ...none, latencies: [] };
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(204).end();
    const id = request.headers['x-service-delivery-id'];
    if (typeof id !== 'string') return;
    const now = Date.now();
    const { createdAt } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { createdAt: string };
    arrivals.deliveries += 1;
    if (seen.has(id)) arrivals.repeats += 1;
    seen.add(id);
    arrivals.firstAt ||= now;
    arrivals.lastAt = now;
    arrivals.latencies.push(now - Date.parse(createdAt));
  });
};
const ports = {
  prompt: await listen(prompt),
  blackHole: await listen(() => undefined),
};
process.stdout.write(`${JSON.stringify(ports)}\n`);
// Standard input closes when the benchmark process ends, so that no server outlives it.
process.stdin.on('end', () => process.exit(0)).resume();
