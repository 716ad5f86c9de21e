import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ATTACKS, type Attack } from './attacks.js';

/**
 * Floods a service on loopback for some seconds, then closes all connections at once. Arguments: address, name of the
 * attack, seconds. Prints the number of requests sent, and the count of each status.
 */
const [address = '', name = '', seconds = '1'] = process.argv.slice(2);
const { hostname, port } = new URL(address);
const attack = ATTACKS.find((one) => one.name === name);
if (!attack) throw new Error(`There is no attack ${name}`);

const ends = Date.now() + Number(seconds) * 1_000;
const sockets = new Set<Socket>();
const statuses = new Map<string, number>();
let sent = 0;

const flood = ({ request, depth = 1, reads = true, leaves = false, target = hostname }: Attack): void => {
  if (Date.now() >= ends) return;
  const bytes = Buffer.from(request(sent).repeat(depth), 'latin1');
  const socket = connect(Number(port), target === hostname ? hostname : target);
  sockets.add(socket);
  const send = (): void => {
    if (Date.now() >= ends || socket.destroyed) return;
    sent += depth;
    socket.write(bytes);
    if (leaves) setImmediate(() => socket.resetAndDestroy());
  };
  socket.on('connect', send);
  if (reads) {
    socket.on('data', (data: Buffer) => {
      const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(data.toString('latin1', 0, 16)) ?? [];
      if (status === undefined) return;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      send();
    });
  }
  socket.on('error', () => undefined);
  socket.on('close', () => {
    sockets.delete(socket);
    setImmediate(flood, attack);
  });
};

for (let n = 0; n < attack.connections; n += 1) flood(attack);
await delay(ends - Date.now());
for (const socket of sockets) socket.resetAndDestroy();
process.stdout.write(`${JSON.stringify({ sent, ...Object.fromEntries(statuses) })}\n`);
process.exit(0);
