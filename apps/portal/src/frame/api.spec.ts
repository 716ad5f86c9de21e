import { expect, it } from '@jest/globals';
import type { InsideCall } from '#platform/http/in-process.js';
import { Api } from './api.js';

it('The key of a form is none that a program of the workspace has used: it would tell what its reading says', async () => {
  const calls: InsideCall[] = [];
  const answer = { status: 202, headers: {}, body: Buffer.from('{}') };
  const principal = { scopes: ['readings:write'] };
  const insider = { principal, verify: async () => principal } as never;
  const api = new Api(async (call) => (calls.push(call), answer), insider, {} as never, undefined);
  await api.post('/readings', {}, 'order-4711');
  expect(calls[0]?.headers?.['idempotency-key']).toBe('portal order-4711');
});
