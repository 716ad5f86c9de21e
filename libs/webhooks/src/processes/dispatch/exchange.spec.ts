import { expect, it } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { Exchange } from './connections.js';

/** A request on a connection that the spec speaks for. */
const begun = () => {
  const exchange = new Exchange();
  const socket = new EventEmitter();
  const request = Object.assign(new EventEmitter(), { end: () => undefined, destroy: () => undefined });
  exchange.begin(() => request as never, Buffer.from('{}'));
  request.emit('socket', socket);
  return { exchange, request, socket };
};

it('An exchange ends when the receiver sends one session ticket of TLS after the other', async () => {
  const { exchange, socket } = begun();
  for (let tickets = 0; tickets < 100; tickets += 1) socket.emit('session', Buffer.alloc(0));
  expect(exchange.isCancelled).toBe(true);
  await expect(exchange.response).rejects.toMatchObject({ reason: 'invalid_response' });
});

it('An exchange takes the few tickets that servers send, and leaves nothing on a connection that is kept', () => {
  const { exchange, request, socket } = begun();
  for (let tickets = 0; tickets < 4; tickets += 1) socket.emit('session', Buffer.alloc(0));
  expect(exchange.isCancelled).toBe(false);
  request.emit('close');
  expect([socket.listenerCount('session'), socket.listenerCount('data')]).toEqual([0, 0]);
});

it('An exchange ends when the receiver answers byte by byte without end', async () => {
  const { exchange, socket } = begun();
  for (let bytes = 0; bytes < 10_000; bytes += 1) socket.emit('data', Buffer.alloc(1));
  await expect(exchange.response).rejects.toMatchObject({ reason: 'invalid_response' });
});

it.each(['chunks', 'interim responses'])(
  'An exchange ends when one piece of the network holds thousands of %s',
  async (kind) => {
    const { exchange, request } = begun();
    const response = new EventEmitter();
    request.emit('response', response);
    for (let nr = 0; nr < 10_000; nr += 1)
      if (kind === 'chunks') response.emit('data', Buffer.alloc(1));
      else request.emit('information', { statusCode: 103 });
    expect(exchange.isCancelled).toBe(true);
    await expect(exchange.response).rejects.toMatchObject({ reason: 'invalid_response' });
  },
);
