import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { setPrincipal, type Principal } from '../auth/authentication.js';
import { LocalBuckets, RateLimiter, type RatePolicies, type RateVerdict } from './rate-limiter.js';
import { RateLimited, RateLimitGuard } from './rate-limit.guard.js';

const MANAGE = { name: 'manage', perMinute: 60, burst: 30 } as const;

/** What passes the guard: the headers of the answer, and what was logged. */
const pass = async (
  limiter: object,
  route: () => void,
  query: Readonly<Record<string, string>> = {},
  times = 1,
) => {
  const logged: unknown[] = [];
  const headers: Record<string, string> = {};
  const guard = new RateLimitGuard(
    new Reflector(),
    limiter as RateLimiter,
    { manage: MANAGE } as unknown as RatePolicies,
    { warn: (...line: unknown[]) => void logged.push(line) },
  );
  const request = { method: 'POST', query } as unknown as Request;
  setPrincipal(request, { workspaceId: 'ws_1', mode: 'live' } as Principal);
  const response = { set: (more: Record<string, string>) => Object.assign(headers, more) };
  const context = {
    getHandler: () => route,
    getClass: () => Object,
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => response }),
  } as unknown as ExecutionContext;
  for (let time = 0; time < times; time += 1) expect(await guard.canActivate(context)).toBe(true);
  return { logged, headers, next: () => guard.canActivate(context) };
};

/** @param ask what PostgreSQL says to each statement */
const limiterOn = (ask: () => Promise<unknown>) => new RateLimiter({ query: ask } as unknown as Pool);
const away = () => Promise.reject(new Error('away'));

it('A request passes when the buckets are away, and a line of the log names it', async () => {
  const { logged } = await pass(limiterOn(away), () => undefined);
  expect(logged).toEqual([[{ requestId: 'req_unknown' }, expect.stringContaining('passes')]]);
});

it('As many requests pass without the buckets as one process lets through, since a caller may have slowed them', async () => {
  const { next } = await pass(limiterOn(away), () => undefined, {}, MANAGE.burst);
  await expect(next()).rejects.toMatchObject({ code: 'rate_limited' });
});

it('What one process alone would refuse costs no statement', async () => {
  let asked = 0;
  const limiter = limiterOn(async () => ({ rows: [{ granted: 1, left: (asked += 1) }] }));
  for (let n = 0; n < 3 * MANAGE.burst; n += 1) await limiter.judge('a', MANAGE);
  expect(asked).toBe(MANAGE.burst);
});

it.each([
  ['always', 10, {}, 10],
  ['by what it asks for', ({ query }: Request) => Number(query['limit']), { limit: '5' }, 5],
])(
  'A route that costs several tokens (%s) takes all of them, so that a burst is no larger than it pays for',
  async (_, tokens, query, cost) => {
    const taken: number[] = [];
    const limiter = new RateLimiter({
      query: async ({ values }: { values: readonly number[][] }) => {
        taken.push(values[4]![0]!);
        return { rows: [{ subject: 'ws_1', policy: 'manage', granted: values[4]![0]!, left: 21 }] };
      },
    } as unknown as Pool);
    const route = () => undefined;
    RateLimited('manage', tokens)(route);
    const atOnce = MANAGE.burst / cost;
    const passes = await Promise.all(Array.from({ length: atOnce }, () => pass(limiter, route, query)));
    expect(taken.reduce((sum, one) => sum + one, 0)).toBe(MANAGE.burst);
    expect(passes[0]!.headers['RateLimit']).toBe('"manage";r=21;t=9');
    await expect(passes[0]!.next()).rejects.toMatchObject({ code: 'rate_limited' });
  },
);

describe('The bucket of one process', () => {
  const state = ({ allowed, remaining, retryAfterSeconds }: RateVerdict) =>
    allowed ? `${remaining} left` : `after ${retryAfterSeconds} s`;

  it('gives its burst, then says when the next token is available', () => {
    let now = 0;
    const buckets = new LocalBuckets({ perMinute: 60, burst: 2 }, 10, () => now);
    const taken = (times: number) => Array.from({ length: times }, () => state(buckets.take('a')));
    expect(taken(3)).toEqual(['1 left', '0 left', 'after 1 s']);
    expect(state(buckets.take('b'))).toBe('1 left');
    now = 1_000;
    expect(taken(2)).toEqual(['0 left', 'after 1 s']);
    now = 3_600_000;
    expect(taken(3)).toEqual(['1 left', '0 left', 'after 1 s']);
  });
});
