/**
 * The servers that the event store benchmark measures, each in a separate process:
 *   store DIR [nosync]  the embedded event store, and a TCP port that echoes
 *   canned N            a server that answers every read with the same N events and discards appends
 * Prints one line of JSON with its ports.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { startEmbeddedEventStore } from '#embedded-event-store/index.js';
import { startCannedServer } from '#embedded-event-store/testing/canned-server.js';
import { PAYLOAD } from './payload.js';

const tell = (ports: Record<string, number>): void =>
  void process.stdout.write(`${JSON.stringify({ ...ports, pid: process.pid })}\n`);

const serveStore = async (dataDir: string, sync: boolean): Promise<void> => {
  const store = await startEmbeddedEventStore({ dataDir, unsafeNoSync: !sync });
  const echo = createServer((socket) => socket.setNoDelay(true).pipe(socket)).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  tell({ port: store.port, echo: (echo.address() as AddressInfo).port });
  process.once('SIGTERM', () => void store.stop().then(() => process.exit(0)));
};

const [mode = '', argument = '', option] = process.argv.slice(2);
if (mode === 'canned') {
  tell({ port: await startCannedServer(PAYLOAD, Number(argument)) });
  process.once('SIGTERM', () => process.exit(0));
} else await serveStore(argument, option !== 'nosync');
// Standard input closes when the benchmark process ends, so that no server outlives it.
process.stdin.on('end', () => process.exit(1)).resume();
