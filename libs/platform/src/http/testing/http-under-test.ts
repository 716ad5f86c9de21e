import {
  All,
  Body,
  Controller,
  Get,
  Inject,
  Param,
  Post,
  Req,
  Res,
  type INestApplication,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { afterAll, beforeAll } from '@jest/globals';
import { Type } from 'class-transformer';
import { ArrayMinSize, IsArray, IsDefined, IsIn, IsInt, IsString, ValidateNested } from 'class-validator';
import type { Request, Response } from 'express';
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import request from 'supertest';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { AuthGuard, ScopeGuard } from '../../auth/auth.guard.js';
import { AddressLimiter } from '../../rate-limit/rate-limit.guard.js';
import {
  Accepts,
  AUTHENTICATOR,
  Caller,
  Public,
  requireStanding,
  type Authenticator,
  type Principal,
} from '../../auth/authentication.js';
import { API_KEY_SCOPES } from '../../auth/scopes.js';
import { LOGGER } from '../../tokens.js';
import { BodyPipe, type SelfChecking } from '../body.pipe.js';
import { TakesLines } from '../json-body.interceptor.js';
import { configureHttp } from '../configure-http.js';
import { insideCaller, type InsideCall } from '../in-process.js';
import { JsonBodyInterceptor } from '../json-body.interceptor.js';
import { ProblemFilter } from '../problem.filter.js';
import { Problem, type FieldError } from '../problem.js';
import { sendJson } from '../send-json.js';

class LineDto {
  @IsString({ message: 'text must be a string' })
  text!: string;

  @IsInt()
  amount!: number;
}

class OrderDto implements SelfChecking {
  @IsIn(['fr-FR', 'en-US'], {
    message: 'locale must be fr-FR or en-US',
    context: { code: 'unsupported_locale' },
  })
  locale!: string;

  @IsDefined({ message: 'lines is required', context: { code: 'required' } })
  @IsArray({ message: 'lines must be a list' })
  @ArrayMinSize(1, { message: 'lines must not be empty' })
  @ValidateNested({ each: true })
  @Type(() => LineDto)
  lines!: LineDto[];

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    if (!sound('lines')) return [];
    return this.lines.flatMap(({ amount }, index) =>
      amount > 100
        ? [{ pointer: `/lines/${index}/amount`, code: 'too_much', detail: 'must not exceed 100' }]
        : [],
    );
  }
}

const THROWN: Readonly<Record<string, unknown>> = {
  problem: new Problem('insufficient_credits', {
    detail: 'not enough',
    members: { required: 20, available: 3 },
    headers: { 'x-hint': 'buy' },
  }),
  store: new StoreUnavailable('the store at 10.0.0.7 is away', false),
  postgres: Object.assign(new Error('connect ECONNREFUSED 10.0.0.8'), { code: 'ECONNREFUSED' }),
  bug: new TypeError('canary: cannot read secret'),
  text: 'canary',
};

@Controller()
class SpecController {
  constructor(@Inject(LOGGER) readonly log: unknown) {}

  @Public()
  @Post('orders')
  order(@Body() body: OrderDto): unknown {
    return { isDto: body instanceof OrderDto, lines: body.lines.length };
  }

  @Public()
  @TakesLines()
  @Post('lines')
  takeLines(@Req() { body }: Request): unknown {
    return { isRaw: Buffer.isBuffer(body) };
  }

  @Accepts({ apiKey: 'readings:write' })
  @TakesLines()
  @Post('api/v1/readings/bulk')
  takeBulk(@Req() { body }: Request): unknown {
    return { bytes: (body as Buffer).length };
  }

  @Public()
  @All('throws/:what')
  throws(@Param('what') what: string): never {
    throw THROWN[what];
  }

  @Public()
  @Get('preferences')
  preferences(@Req() { headers }: Request): unknown {
    return [headers.accept, headers['accept-language'], headers.cookie].map((text) => text?.length ?? 0);
  }

  @Public()
  @Get('bytes')
  bytes(@Res() response: Response): void {
    sendJson(response, '{"a":1}', response.req.headers['if-none-match']);
  }

  @Accepts({ apiKey: 'readings:read' })
  @Get('keys-only')
  keysOnly(): void {}

  @Accepts({ apiKey: 'readings:read' })
  @Get('held')
  async held(@Req() request: Request): Promise<unknown> {
    await requireStanding(request);
    return { given: true };
  }

  @Accepts({ apiKey: 'webhooks:read', bearer: 'webhooks:read' })
  @All('scoped')
  read(@Caller() { actor }: Principal): unknown {
    return { actor };
  }

  @Get('undeclared')
  undeclared(): string {
    return 'secret';
  }
}

export const principal = (authMode: Principal['authMode']): Principal => ({
  authMode,
  mode: 'live',
  sees: ['live'],
  workspaceId: 'ws_1',
  actor: 'apiKey:k',
  scopes: API_KEY_SCOPES,
});
/** `scopes.webhooks-read.credits-read` has these scopes; `of.ws_2` is a key of that workspace. */
const scopesIn = (credential: string): readonly string[] =>
  credential
    .slice('scopes.'.length)
    .split('.')
    .map((scope) => scope.replace('-', ':'));

/** `ends.<n>` ends after it was accepted once. */
const ending = new Set<string>();

const authenticator: Authenticator = {
  verifyApiKey: async (key, from) => {
    const caller = principal('apiKey');
    const [kind = '', rest = ''] = key.split(/\.(.*)/s);
    const isOver = kind === 'ended' || ending.has(key);
    if (kind === 'ends') ending.add(key);
    if (isOver || kind === 'elsewhere')
      return { workspaceId: 'ws_1', actor: 'apiKey:k', refusal: isOver ? 'ended' : 'network' };
    if (key === 'unjudged') throw new Problem('enqueue_unavailable', { isLogged: true });
    if (kind === 'of') return { ...caller, workspaceId: rest };
    if (kind === 'whence') return { ...caller, actor: `apiKey:${from}` };
    if (kind === 'scopes') return { ...caller, scopes: scopesIn(key) };
    return kind === 'good' || kind === 'ends' ? caller : null;
  },
  verifyBearer: async (token) => {
    if (token === 'unjudged') throw new Problem('enqueue_unavailable', { isLogged: true });
    return token.startsWith('scopes.')
      ? { ...principal('bearer'), actor: 'user:u', scopes: scopesIn(token) }
      : null;
  },
};

/** The largest bulk that the application takes (bytes). */
export const LARGEST = 8_192;

/**
 * One application with all that the platform puts around a route. The members are available only within tests.
 * @param trustedProxies in front of the application
 */
export const httpUnderTest = (trustedProxies = 0) => {
  let app: INestApplication;
  let refusal: () => Problem | null = () => null;
  const lines: string[] = [];

  beforeAll(async () => {
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
    const built = await Test.createTestingModule({
      controllers: [SpecController],
      providers: [
        { provide: LOGGER, useValue: log },
        { provide: AUTHENTICATOR, useValue: authenticator },
        { provide: APP_GUARD, useClass: AuthGuard },
        { provide: APP_GUARD, useClass: ScopeGuard },
        { provide: AddressLimiter, useValue: { refusal: async () => refusal() } },
        { provide: APP_PIPE, useClass: BodyPipe },
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
      ],
    }).compile();
    const nest = built.createNestApplication<NestExpressApplication>({ bodyParser: false, logger: false });
    configureHttp(nest, { TRUSTED_PROXIES: trustedProxies }, log, {
      bodies: { limit: 1_024, bulkLimit: LARGEST },
    });
    app = await nest.init();
  });

  afterAll(() => app.close());

  const http = () => request(app.getHttpServer() as Server);
  const post = (body: unknown) =>
    http()
      .post('/orders')
      .send(body as object);

  /** The port of the application, which then listens. */
  const listen = async (): Promise<number> => {
    const server = app.getHttpServer() as Server;
    if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  };

  /** Calls a route as the process itself does. */
  const inside = (call: Omit<InsideCall, 'connection'>) =>
    insideCaller(app.getHttpAdapter().getInstance() as RequestListener)({
      ...call,
      connection: { remoteAddress: '127.0.0.1', localPort: 1 },
    });

  return {
    listen,
    inside,
    /** What the application logged. */
    lines,
    http,
    post,
    /** Sets what the limiter of the caller's address answers. */
    refuse(answer: () => Problem | null) {
      refusal = answer;
    },
  };
};
