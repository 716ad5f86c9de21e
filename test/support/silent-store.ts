import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  connect as connectOpenly,
  createServer as createOpenServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import type { StartedStack } from './start-stack.js';

/** A proxy with the store's key, or without TLS as the store. Once it has passed the text to the store, it drops all answers. */
export const storeThatFallsSilent = async (
  stack: Pick<StartedStack, 'eventStoreUrl' | 'dataDir'>,
  text: string,
): Promise<{ url: string; close(): void; readonly isSilent: () => boolean }> => {
  const store = new URL(stack.eventStoreUrl.replace('esdb:', 'http:'));
  const { listen, dial } = stack.eventStoreUrl.includes('tls=false') ? OPENLY : withTls(stack.dataDir);
  const sockets: Socket[] = [];
  let silent = false;
  const door = listen((caller) => {
    const inside = dial(Number(store.port));
    sockets.push(caller, inside);
    for (const socket of [caller, inside]) socket.on('error', () => undefined);
    caller.on('data', (chunk: Buffer) => {
      silent ||= chunk.includes(text);
      inside.write(chunk);
    });
    inside.on('data', (chunk: Buffer) => {
      if (!silent) caller.write(chunk);
    });
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  return {
    url: stack.eventStoreUrl.replace(store.host, `localhost:${(door.address() as AddressInfo).port}`),
    isSilent: () => silent,
    close: () => {
      for (const socket of sockets) socket.destroy();
      door.close();
    },
  };
};

interface Transport {
  readonly listen: (serve: (caller: Socket) => void) => Server;
  readonly dial: (port: number) => Socket;
}

const host = '127.0.0.1';
const OPENLY: Transport = { listen: createOpenServer, dial: (port) => connectOpenly({ port, host }) };

const withTls = (dataDir: string): Transport => {
  const access = (file: string): Buffer => readFileSync(join(dataDir, 'event-store-access', file));
  const [cert, key, ALPNProtocols] = [access('server.crt'), access('server.key'), ['h2']];
  return {
    listen: (serve) => createServer({ cert, key, ALPNProtocols }, serve),
    dial: (port) => connect({ port, host, servername: 'localhost', ca: cert, ALPNProtocols }),
  };
};
