import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';

const SEED = Symbol('requestSeed');
type Seeded = Request & { [SEED]?: Buffer };

/** Gives a request with an Idempotency-Key the bytes that each of its repeats has too. */
export const setSeed = (request: Request, seed: Buffer): void => {
  (request as Seeded)[SEED] = seed;
};

/** Absent without an Idempotency-Key, and of a route that handles the keys itself. */
export const seedOf = (request: Request): Buffer | undefined => (request as Seeded)[SEED];

/** Parameter decorator: the seed of this request (`RequestContext.seed`). */
export const RequestSeed = createParamDecorator((_: unknown, context: ExecutionContext) =>
  seedOf(context.switchToHttp().getRequest<Request>()),
);
