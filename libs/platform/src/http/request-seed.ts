import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';

const seeds = new WeakMap<IncomingMessage, Buffer>();

/** Gives a request with an Idempotency-Key the bytes that each of its repeats has too. */
export const setSeed = (request: IncomingMessage, seed: Buffer): void => void seeds.set(request, seed);

/** Absent without an Idempotency-Key, and of a route that handles the keys itself. */
export const seedOf = (request: IncomingMessage): Buffer | undefined => seeds.get(request);

/** Parameter decorator: the seed of this request (`RequestContext.seed`). */
export const RequestSeed = createParamDecorator((_: unknown, context: ExecutionContext) =>
  seedOf(context.switchToHttp().getRequest<IncomingMessage>()),
);
