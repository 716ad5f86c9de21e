import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { expect, it } from '@jest/globals';
import { setPrincipal, type Principal } from '#platform/auth/authentication.js';
import { RateLimitGuard } from '#platform/rate-limit/rate-limit.guard.js';
import { EndpointHealthController } from './endpoints.controller.js';
import { EventsController } from './events.controller.js';
import { ReplayController } from './replay.controller.js';

/** The tokens that a request takes of its policy. */
const tokensOf = async (route: unknown, method = 'GET', query: Readonly<Record<string, string>> = {}) => {
  const verdict = { allowed: true, remaining: 30, fullAfterSeconds: 1, retryAfterSeconds: 1 };
  let tokens = 0;
  const limiter = {
    judge: async () => ((tokens += 1), verdict),
    charge: async (_subject: string, _policy: object, more: number) => ((tokens += more), verdict),
  };
  const policies = { read: { name: 'read', perMinute: 60 }, manage: { name: 'manage', perMinute: 60 } };
  const log = { warn: () => undefined };
  const guard = new RateLimitGuard(new Reflector(), limiter as never, policies as never, log);
  const request = { method, query };
  setPrincipal(request as never, { workspaceId: 'ws_1', mode: 'live' } as Principal);
  await guard.canActivate({
    getHandler: () => route,
    getClass: () => Object,
    switchToHttp: () => ({ getRequest: () => request, getResponse: () => ({ set: () => undefined }) }),
  } as unknown as ExecutionContext);
  return tokens;
};

it('A page of events counts as a list of readings does, by the external ids that it may open', async () => {
  const { list } = EventsController.prototype;
  expect(await tokensOf(list, 'GET', { limit: '100' })).toBe(5);
  expect(await tokensOf(list)).toBe(3);
  expect(await tokensOf(list, 'GET', { limit: '1' })).toBe(1);
});

it('What counts or looks up all deliveries of an endpoint or a replay takes more than one request', async () => {
  expect(await tokensOf(EndpointHealthController.prototype.health)).toBe(5);
  expect(await tokensOf(ReplayController.prototype.get)).toBe(10);
  expect(await tokensOf(ReplayController.prototype.replay, 'POST')).toBe(30);
});
