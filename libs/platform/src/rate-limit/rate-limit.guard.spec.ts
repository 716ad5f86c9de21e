import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { expect, it } from '@jest/globals';
import { setPrincipal, type Principal } from '../auth/authentication.js';
import { requestId, requestIdOf } from '../http/request-id.js';
import type { RatePolicies } from './policies.js';
import { RateLimited, RateLimitGuard } from './rate-limit.guard.js';
import type { RateLimiter } from './rate-limiter.js';

it('A request passes when the buckets are away, and a line of the log names it', async () => {
  const said: unknown[] = [];
  const away = { takeNow: () => null, take: () => Promise.reject(new Error('away')) };
  const guard = new RateLimitGuard(
    new Reflector(),
    away as unknown as RateLimiter,
    { read: { name: 'read', perMinute: 1, burst: 1 } } as RatePolicies,
    { warn: (...line: unknown[]) => void said.push(line) },
  );
  const request = { method: 'GET' } as Request;
  requestId(request, { setHeader: () => undefined } as unknown as Response, () => undefined);
  setPrincipal(request, { workspaceId: 'ws_1', mode: 'live' } as Principal);
  const context = {
    getHandler: () => Object,
    getClass: () => Object,
    switchToHttp: () => ({ getRequest: () => request }),
  } as unknown as ExecutionContext;

  expect(await guard.canActivate(context)).toBe(true);
  expect(requestIdOf(request)).toMatch(/^req_[\da-f-]{36}$/);
  expect(said).toEqual([[{ requestId: requestIdOf(request) }, expect.stringContaining('passes')]]);
});

it.each([
  ['always', 10, '/replay', 9],
  ['by what it asks for', (request: Request) => Number(request.query['limit']), '/list?limit=5', 4],
])(
  'A request to a route that costs several tokens (%s) takes all of them, and says what is left',
  async (_, tokens, url, more) => {
    const verdict = { allowed: true, remaining: 30, fullAfterSeconds: 1, retryAfterSeconds: 1 };
    const charged: unknown[] = [];
    const limiter = {
      takeNow: () => verdict,
      charge: async (...asked: unknown[]) => {
        charged.push(asked);
        return { ...verdict, remaining: 21 };
      },
    };
    const manage = { name: 'manage', perMinute: 60, burst: 30 } as const;
    const guard = new RateLimitGuard(
      new Reflector(),
      limiter as unknown as RateLimiter,
      { manage } as unknown as RatePolicies,
      { warn: () => undefined },
    );
    const route = () => undefined;
    RateLimited('manage', tokens)(route);
    const query = Object.fromEntries(new URL(url, 'http://localhost').searchParams);
    const request = { method: 'POST', query } as unknown as Request;
    setPrincipal(request, { workspaceId: 'ws_1', mode: 'live' } as Principal);
    const headers: Record<string, string> = {};
    const response = { set: (more: Record<string, string>) => Object.assign(headers, more) };
    const context = {
      getHandler: () => route,
      getClass: () => Object,
      switchToHttp: () => ({ getRequest: () => request, getResponse: () => response }),
    } as unknown as ExecutionContext;

    expect(await guard.canActivate(context)).toBe(true);
    expect(charged).toEqual([['ws_1', manage, more]]);
    expect(headers['RateLimit']).toBe('"manage";r=21;t=1');
  },
);
