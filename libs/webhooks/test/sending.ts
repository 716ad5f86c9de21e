import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach } from '@jest/globals';
import { type ResolveHost, Sender } from '../src/processes/dispatch/sender.js';
import { PinnedConnections, type EgressProxy } from '../src/processes/dispatch/connections.js';
import { type AddressRange, ranges } from '../src/domain/webhook-url.js';
import { Receiver } from './receiver.js';

const NOW = Date.parse('2026-04-04T09:30:00Z');
/** A time limit that no pause of a slow machine reaches. */
export const PATIENCE_MS = 60_000;
const LOOPBACK = ranges('127.0.0.0/8');

const open: { close(): unknown }[] = [];

/** For the specs of one file: a receiver for each test; closes the senders and servers that the test opened. */
export const sending = (): { receiver: Receiver } => {
  const test = {} as { receiver: Receiver };
  beforeEach(async () => {
    test.receiver = await Receiver.start();
  });
  afterEach(async () => {
    for (const one of open.splice(0)) await one.close();
    await test.receiver.stop();
  });
  return test;
};

export interface SenderOptions {
  readonly resolve?: ResolveHost;
  readonly allowCidrs?: readonly AddressRange[];
  readonly connectTimeoutMs?: number;
  readonly exchangeTimeoutMs?: number;
  readonly proxy?: EgressProxy | null;
  readonly blocked?: (host: string) => void;
}

/** A sender that may reach this machine. Every name resolves to it. Closed after the test. */
export const senderWith = ({
  resolve,
  allowCidrs = LOOPBACK,
  connectTimeoutMs = PATIENCE_MS,
  exchangeTimeoutMs = PATIENCE_MS,
  proxy = null,
  blocked = () => undefined,
}: SenderOptions = {}): Sender => {
  const connections = new PinnedConnections({ connectTimeoutMs, allowCidrs, proxy });
  const sender = new Sender(
    connections,
    resolve ?? (async () => ['127.0.0.1']),
    { allowHttp: true, allowCidrs },
    exchangeTimeoutMs,
    () => NOW,
    blocked,
  );
  open.push({ close: () => sender.cancel() });
  return sender;
};
export const send = (sender: Sender, url: string, endpointId = 'we_a', workspaceId = 'ws_a') =>
  sender.send({
    workspaceId,
    endpointId,
    url,
    headers: { 'x-service-event': 'reading.completed' },
    body: Buffer.from('{}'),
  });

/** A TCP server that handles its connections with this function. @returns its URL */
export const rawServer = async (onConnection: (socket: Socket) => void): Promise<string> => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined);
    open.push({ close: () => socket.destroy() });
    onConnection(socket);
  });
  return `http://127.0.0.1:${await listen(server)}/`;
};
export const listen = async (server: Server): Promise<number> => {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};
