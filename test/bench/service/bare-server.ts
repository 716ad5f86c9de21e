import 'reflect-metadata';
import { Body, Controller, Get, HttpCode, Module, Param, Post, type Provider } from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, APP_PIPE, Reflector } from '@nestjs/core';
import pg from 'pg';
import { systemClock } from '#event-sourcing/core/clock.js';
import { AuthGuard, ScopeGuard } from '#platform/auth/auth.guard.js';
import { Accepts } from '#platform/auth/authentication.js';
import { BodyPipe } from '#platform/http/body.pipe.js';
import { JsonBodyInterceptor } from '#platform/http/json-body.interceptor.js';
import { ratePolicies } from '#platform/rate-limit/policies.js';
import { RateLimitGuard } from '#platform/rate-limit/rate-limit.guard.js';
import { RateLimiter } from '#platform/rate-limit/rate-limiter.js';
import { CreateReadingDto } from '#readings/http/request-reading.js';
import { ApiKeyAuthenticator } from '#workspaces/authentication/api-key.authenticator.js';
import { ApiKeyQuery } from '#workspaces/read-models/queries.js';
import { serve } from '../serve.js';

/** Response bodies by size, created once. */
const bodies = new Map<string, { text: string }>();

/**
 * The floor for the API: the same framework and body rules, but no work. It returns the body it received, which is
 * about as long as a reading.
 */
@Controller('bare')
@Accepts({ apiKey: 'readings:write' })
class BareController {
  @Post()
  @HttpCode(202)
  create(@Body() body: CreateReadingDto) {
    return { readingId: 'bare', status: 'queued', input: body };
  }

  @Get('sized/:bytes')
  sized(@Param('bytes') bytes: string) {
    const body = bodies.get(bytes) ?? { text: 'x'.repeat(Math.max(0, Number(bytes) - 11)) };
    bodies.set(bytes, body);
    return body;
  }

  @Get(':id')
  get(@Param('id') id: string) {
    return { readingId: id, status: 'completed', document: { available: true }, error: null };
  }
}

/** With `DATABASE_URL`, callers are authenticated and rate-limited as in the API; without it, all are accepted. */
const guards = (): Provider[] => {
  const connectionString = process.env['DATABASE_URL'];
  if (connectionString === undefined) return [];
  const pool = new pg.Pool({ connectionString, max: 10 });
  const keys = new ApiKeyAuthenticator(new ApiKeyQuery(pool), systemClock);
  const authenticator = {
    verifyApiKey: (key: string, from: string | null) => keys.verify(key, from),
    verifyBearer: () => Promise.resolve(null),
  };
  const plenty = 1_000_000;
  const policies = ratePolicies({
    RATE_READ_PER_MINUTE: plenty,
    RATE_CREATE_PER_MINUTE: plenty,
    RATE_MANAGE_PER_MINUTE: plenty,
    RATE_PUBLIC_PER_MINUTE: plenty,
  });
  const limiter = new RateLimiter(pool);
  const addresses = { refusal: () => Promise.resolve(null) };
  const log = { warn: () => undefined };
  const reflector = new Reflector();
  return [
    {
      provide: APP_GUARD,
      useValue: new AuthGuard(reflector, authenticator, addresses as never),
    },
    { provide: APP_GUARD, useValue: new RateLimitGuard(reflector, limiter, policies, log) },
    { provide: APP_GUARD, useClass: ScopeGuard },
  ];
};

@Module({
  controllers: [BareController],
  providers: [
    ...guards(),
    { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
    { provide: APP_PIPE, useClass: BodyPipe },
  ],
})
class BareModule {}

await serve(BareModule);
