import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import type { StartedStack } from './start-stack.js';

/** A TLS proxy with the store's key. Once it has passed the text to the store, it drops all answers. */
export const storeThatFallsSilent = async (
  stack: Pick<StartedStack, 'eventStoreUrl' | 'dataDir'>,
  text: string,
): Promise<{ url: string; close(): void; readonly isSilent: () => boolean }> => {
  const store = new URL(stack.eventStoreUrl.replace('esdb:', 'http:'));
  const access = (file: string): Buffer => readFileSync(join(stack.dataDir, 'event-store-access', file));
  const [cert, key, ALPNProtocols] = [access('server.crt'), access('server.key'), ['h2']];
  const sockets: TLSSocket[] = [];
  let silent = false;
  const door = createServer({ cert, key, ALPNProtocols }, (caller) => {
    const inside = connect({
      port: Number(store.port),
      host: '127.0.0.1',
      servername: 'localhost',
      ca: cert,
      ALPNProtocols,
    });
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
