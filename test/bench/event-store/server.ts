/**
 * The servers that the event store benchmark measures, each in a separate process:
 *   store DIR [nosync]  the embedded event store
 *   canned N            a server that answers every read with the same N events and discards appends
 * Prints one line of JSON with its port.
 */
import { startEmbeddedEventStore } from '#embedded-event-store/index.js';
import { startCannedServer } from '#embedded-event-store/testing/canned-server.js';
import { PAYLOAD } from './load.js';

const tell = (port: number): void =>
  void process.stdout.write(`${JSON.stringify({ port, pid: process.pid })}\n`);

const [mode = '', argument = '', option] = process.argv.slice(2);
if (mode === 'canned') {
  tell(await startCannedServer(PAYLOAD, Number(argument)));
  process.once('SIGTERM', () => process.exit(0));
} else {
  const store = await startEmbeddedEventStore({ dataDir: argument, unsafeNoSync: option === 'nosync' });
  tell(store.port);
  process.once('SIGTERM', () => void store.stop().then(() => process.exit(0)));
}
// Standard input closes when the benchmark process ends, so that no server outlives it.
process.stdin.on('end', () => process.exit(1)).resume();
