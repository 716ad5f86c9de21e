import type { CallHandler, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { lastValueFrom, of, throwError } from 'rxjs';
import { setPrincipal, type Principal } from '../auth/authentication.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { Digester } from '../crypto/digest.js';
import { Problem } from '../http/problem.js';
import { IdempotencyInterceptor, ShownOnce } from './idempotency.interceptor.js';
import type { IdempotentRequests, RequestIdentity } from './idempotent-requests.js';

const SEED = Buffer.alloc(32, 1);
/** Which requests were asked for. */
let identities: string[] = [];
beforeEach(() => void (identities = []));

const KEY: Principal = {
  authMode: 'apiKey',
  mode: 'live',
  sees: ['live'],
  workspaceId: 'ws_1',
  actor: 'apiKey:k',
  scopes: ['keys:write'],
};

/** What happens to a key when a handler answers or fails, while answers can or cannot be stored. */
const intercept = async (
  handler: CallHandler,
  finish: () => Promise<void> = async () => undefined,
  again = false,
  caller = KEY,
): Promise<string[]> => {
  const done: string[] = [];
  const requests = {
    begin: async (identity: RequestIdentity) => {
      identities.push(identity.keyDigest.toString('hex'));
      return { outcome: 'begun', claim: { seed: SEED, again } };
    },
    finish: async () => {
      await finish();
      done.push('kept');
    },
    giveUp: async () => void done.push('given up'),
    leave: async () => void done.push('left'),
  } as unknown as IdempotentRequests;
  const request = { method: 'POST', path: '/things', headers: { 'idempotency-key': 'k' }, body: {} };
  setPrincipal(request as never, caller);
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

const refused = {
  handle: () => throwError(() => new Problem('endpoint_limit_reached', { detail: 'refused' })),
};

it('An idempotency key is released when its request is refused, and kept when it succeeds', async () => {
  expect((await intercept(refused))[0]).toBe('given up');
  const succeeds = { handle: () => of({ done: true }) };
  expect(await intercept(succeeds)).toEqual(['kept']);
});

it('A request that failed may have done its work: its key is left to the same request', async () => {
  const fails = { handle: () => throwError(() => new StoreUnavailable('no answer', true)) };
  expect(await intercept(fails)).toEqual(['left', 'no answer']);
  const breaks = { handle: () => throwError(() => new Error('a fault')) };
  expect(await intercept(breaks)).toEqual(['left', 'a fault']);
});

it('A refusal says nothing of the attempt before it, which may have done its work', async () => {
  expect((await intercept(refused, undefined, true))[0]).toBe('left');
});

it('An answer that cannot be stored does not release the key: the request must not be done twice', async () => {
  expect(await intercept({ handle: () => of({ done: true }) }, away)).toEqual(['the database is away']);
});

describe('The same key of another caller of the workspace', () => {
  const session: Principal = { ...KEY, authMode: 'session', sessionId: 's1', openedBy: 'k' };
  const others: readonly Principal[] = [
    KEY,
    { ...KEY, actor: 'apiKey:other' },
    { ...KEY, scopes: ['keys:write', 'readings:read'] },
    session,
    { ...session, sessionId: 's2' },
  ];
  const askedBy = async (handle: CallHandler['handle']): Promise<number> => {
    for (const caller of others) await intercept({ handle }, undefined, false, caller);
    return new Set(identities).size;
  };

  it('is another request where the answer has a secret', async () => {
    const handle = () => of({ apiKey: 'ek_live_…' });
    ShownOnce('apiKey')(handle);
    expect(await askedBy(handle)).toBe(others.length);
  });

  it('is a repeat elsewhere', async () => {
    expect(await askedBy(() => of({}))).toBe(1);
  });
});
