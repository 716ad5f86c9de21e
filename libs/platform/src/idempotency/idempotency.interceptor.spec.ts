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

const failing = (error: Error): CallHandler => ({ handle: () => throwError(() => error) });
const REFUSED = failing(new Problem('endpoint_limit_reached', { detail: 'refused' }));
const SUCCEEDS = { handle: () => of({ done: true }) };
const away = (): Promise<void> => Promise.reject(new Error('the database is away'));

it.each<[string, string[], Parameters<typeof intercept>]>([
  ['is kept when its request succeeds', ['kept'], [SUCCEEDS]],
  ['is released when its request is refused', ['given up', 'refused'], [REFUSED]],
  // They may have done their work: only the same request may continue.
  [
    'is left to a repeat of one of unknown outcome',
    ['left', 'no answer'],
    [failing(new StoreUnavailable('no answer', true))],
  ],
  ['is left to a repeat of one that broke', ['left', 'a fault'], [failing(new Error('a fault'))]],
  ['is left when an earlier attempt may have done its work', ['left', 'refused'], [REFUSED, undefined, true]],
  ['is not released when its answer cannot be stored', ['the database is away'], [SUCCEEDS, away]],
])('An idempotency key %s', async (_, done, given) => {
  expect(await intercept(...given)).toEqual(done);
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

  it('is another request where they see both modes: the answer may hold what a key of one may not see', async () => {
    for (const sees of [['live'], ['live', 'test']] as const)
      await intercept(SUCCEEDS, undefined, false, { ...KEY, sees });
    expect(new Set(identities).size).toBe(2);
  });
});
