import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { expect, it } from '@jest/globals';
import { setPrincipal, type Principal } from '../auth/authentication.js';
import type { RatePolicies } from './policies.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import type { RateLimiter } from './rate-limiter.js';

it('A request passes when the buckets are away, and a line of the log names it', async () => {
  const logged: unknown[] = [];
  const away = { take: () => Promise.reject(new Error('away')) };
  const guard = new RateLimitGuard(
    new Reflector(),
    away as unknown as RateLimiter,
    { read: { name: 'read', perMinute: 1, burst: 1 } } as RatePolicies,
    { warn: (...line: unknown[]) => void logged.push(line) },
  );
  const request = { method: 'GET' };
  setPrincipal(request as never, { workspaceId: 'ws_1', mode: 'live' } as Principal);
  const context = {
    getHandler: () => Object,
    getClass: () => Object,
    switchToHttp: () => ({ getRequest: () => request }),
  } as unknown as ExecutionContext;
  expect(await guard.canActivate(context)).toBe(true);
  expect(logged).toEqual([[{ requestId: 'req_unknown' }, expect.stringContaining('passes')]]);
});
