import type { CallHandler, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { expect, it } from '@jest/globals';
import { lastValueFrom, of, throwError } from 'rxjs';
import { setPrincipal } from '../auth/authentication.js';
import { Digester } from '../crypto/digest.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import type { IdempotentRequests } from './idempotent-requests.js';

/** What happens to a key when a handler answers or fails, while answers can or cannot be stored. */
const intercept = async (handler: CallHandler, finish: () => Promise<void>): Promise<string[]> => {
  const done: string[] = [];
  const requests = {
    begin: async () => ({ outcome: 'begun' }),
    finish: async () => {
      await finish();
      done.push('kept');
    },
    giveUp: async () => void done.push('given up'),
  } as unknown as IdempotentRequests;
  const request = { method: 'POST', path: '/things', headers: { 'idempotency-key': 'k' }, body: {} };
  setPrincipal(request as never, {
    authMode: 'apiKey',
    mode: 'live',
    sees: ['live'],
    workspaceId: 'ws_1',
    actor: 'apiKey:k',
    scopes: [],
  });
  const context = {
    getHandler: () => handler.handle,
    getClass: () => Object,
    switchToHttp: () => ({
      getRequest: () => request,
      getResponse: () => ({ statusCode: 201, getHeader: () => undefined }),
    }),
  } as unknown as ExecutionContext;
  const digester = new Digester(Buffer.alloc(32).toString('base64'));
  const interceptor = new IdempotencyInterceptor(new Reflector(), requests, digester);
  const answer = await interceptor.intercept(context, handler);
  await lastValueFrom(answer).catch((error: unknown) => done.push((error as Error).message));
  return done;
};

const away = (): Promise<void> => Promise.reject(new Error('the database is away'));

it('An idempotency key is released when its request fails, and kept when it succeeds', async () => {
  const fails = { handle: () => throwError(() => new Error('refused')) };
  expect(await intercept(fails, async () => undefined)).toEqual(['given up', 'refused']);
  const succeeds = { handle: () => of({ done: true }) };
  expect(await intercept(succeeds, async () => undefined)).toEqual(['kept']);
});

it('An answer that cannot be stored does not release the key: the request must not be done twice', async () => {
  expect(await intercept({ handle: () => of({ done: true }) }, away)).toEqual(['the database is away']);
});
