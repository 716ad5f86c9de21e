import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation, ApiProperty, ApiSchema, ApiTags } from '@nestjs/swagger';
import { IsArray, IsDefined, IsString } from 'class-validator';
import type { Request } from 'express';
import { z } from 'zod';
import { type Mode, MODES } from '#event-sourcing/core/request-context.js';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { PERSONS_SCOPE, SESSION_SCOPES } from '#platform/auth/scopes.js';
import {
  listType,
  NullableField,
  OneOf,
  OptionalField,
  required,
  SecondsField,
  stringType,
} from '#platform/http/body-rules.js';
import type { SelfChecking } from '#platform/http/body.pipe.js';
import { apiPage, apiSchema, instant, uuid } from '#platform/http/openapi/api-schema.js';
import { Answers, Names, Refuses } from '#platform/http/openapi/operation.js';
import { PageCursors } from '#platform/http/page-cursor.js';
import { type FieldError, Problem } from '#platform/http/problem.js';
import { ShownOnce } from '#platform/idempotency/idempotency.interceptor.js';
import { isUuid } from '#platform/text/uuid.js';
import { CONFIG } from '#platform/tokens.js';
import { MODE_SHOWN_TO } from '../application/portal-sessions.js';
import type { Pool } from 'pg';
import { asRecord } from '#platform/postgres/as-record.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import {
  EndPortalSession,
  isTimeZone,
  MAX_SESSION_SECONDS,
  MAX_TIME_ZONE_LENGTH,
  OpenPortal,
  PORTAL_LANGUAGES,
  type PortalAddress,
  type PortalLanguage,
  portalUrl,
} from '../contracts/index.js';
import { scopeErrors } from './api-keys.js';

const EXAMPLE_ID = '5a1d6f0e-2b47-4c0f-8f43-7e0b6c3d9a12';

const NAMED_SESSION = {
  description: 'The `sessionId` of the session: not a secret',
  example: EXAMPLE_ID,
};

const openedSessionSchema = apiSchema(
  'OpenedPortalSession',
  z.object({
    sessionId: uuid().describe('Names the session; not a secret'),
    url: z
      .string()
      .meta({ format: 'uri' })
      .optional()
      .describe(
        'Lets one browser in, once. Shown this once; an answer repeated for an `Idempotency-Key` is without it',
      ),
    urlExpiresAt: instant().describe('Until when the URL works'),
  }),
  'A session of the portal that has not begun.',
  {
    sessionId: EXAMPLE_ID,
    url: 'https://readings.example.com/portal/enter/2sbQyKn4Xv0tM1rWzC7nA3dF6gH9jL0pS5uE2iR8xQ4',
    urlExpiresAt: '2026-04-04T09:31:00.000Z',
  },
);

const session = z.object({
  sessionId: uuid().describe('Names the session; not a secret'),
  openedBy: z.string().describe('Who opened it: `apiKey:` and the id of a key, or `operator:` and a name'),
  scopes: z.array(z.string()).describe('What it may do'),
  modes: z.array(z.enum(MODES)).describe('The modes that it may see'),
  createdAt: instant().describe('When its link was made'),
  startedAt: instant().nullable().describe('When its link was used; null: it was not'),
  expiresAt: instant().describe('When it ends; until it begins, when its link expires'),
  endedAt: instant().nullable().describe('When somebody ended it before its time'),
});
type Session = z.infer<typeof session>;

const example: Session = {
  sessionId: EXAMPLE_ID,
  openedBy: 'apiKey:Ab3dE6gH',
  scopes: ['readings:read', 'documents:read', 'credits:read'],
  modes: ['live'],
  createdAt: '2026-04-04T09:30:00.000Z',
  startedAt: '2026-04-04T09:30:04.000Z',
  expiresAt: '2026-04-04T10:30:04.000Z',
  endedAt: null,
};

const sessionSchema = apiSchema(
  'PortalSession',
  session,
  'A session of the portal, without its secrets.',
  example,
);

const sessionPageSchema = apiPage(
  'PortalSessionPage',
  sessionSchema,
  'Sessions of the portal, newest first, ended ones included.',
  example,
);

const MIN_SESSION_SECONDS = 60;
const MAX_RETURN_URL_LENGTH = 2_048;
const DEFAULT_SECONDS = 3_600;

/** Body of POST /api/v1/portal/sessions. */
@ApiSchema({ name: 'OpenPortalSession' })
class OpenPortalSessionDto implements SelfChecking {
  @ApiProperty({
    type: 'array',
    items: { type: 'string', enum: [...SESSION_SCOPES] },
    minItems: 1,
    description:
      'What the session may do: scopes that the key has, and `persons:read`, which shows names and birth dates and needs `readings:read`',
    examples: [['readings:read', 'documents:read', 'credits:read']],
  })
  @IsDefined(required)
  @IsArray(listType)
  scopes!: string[];

  @OptionalField(OneOf(PORTAL_LANGUAGES), {
    type: 'string',
    enum: [...PORTAL_LANGUAGES],
    default: 'en',
    description: 'The language of its pages; the person can choose the other',
    examples: ['fr'],
  })
  language: PortalLanguage = 'en';

  @OptionalField(IsString(stringType), {
    type: 'string',
    maxLength: MAX_TIME_ZONE_LENGTH,
    default: 'UTC',
    description: 'The time zone of its pages, an IANA name; the person can choose another',
    examples: ['Europe/Paris'],
  })
  timeZone: string = 'UTC';

  @NullableField(IsString(stringType), {
    type: 'string',
    nullable: true,
    format: 'uri',
    maxLength: MAX_RETURN_URL_LENGTH,
    description: 'Where the pages lead back to, an https URL of yours',
    examples: ['https://app.example.com/readings'],
  })
  returnUrl?: string | null;

  @SecondsField({
    minimum: MIN_SESSION_SECONDS,
    maximum: MAX_SESSION_SECONDS,
    default: DEFAULT_SECONDS,
    description: 'How long the session lasts once its link is used, in seconds',
    examples: [3_600],
  })
  ttlSeconds: number = DEFAULT_SECONDS;

  fieldErrors(sound: (property: string) => boolean): FieldError[] {
    return [
      ...(sound('scopes') ? scopeErrors(this.scopes, SESSION_SCOPES, SESSION_SCOPES.length) : []),
      ...(sound('timeZone') && !isTimeZone(this.timeZone) ? [unknownZone] : []),
      ...(sound('returnUrl') && this.returnUrl && !isReturnUrl(this.returnUrl) ? [unusableUrl] : []),
    ];
  }
}

const unknownZone: FieldError = {
  pointer: '/timeZone',
  code: 'invalid_value',
  detail: 'must be an IANA time zone such as Europe/Paris',
};

const isReturnUrl = (text: string): boolean => {
  const url = text.length <= MAX_RETURN_URL_LENGTH && URL.canParse(text) ? new URL(text) : null;
  const isLocal = url?.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url !== null && (url.protocol === 'https:' || isLocal) && url.username === '' && url.password === '';
};
const unusableUrl: FieldError = {
  pointer: '/returnUrl',
  code: 'invalid_value',
  detail: 'must be an https URL without login; http only on this machine',
};

const tooManyOpen = (): Problem =>
  new Problem('rate_limited', {
    detail: '1,000 sessions of the workspace in this mode are open; more begin when some have ended',
    headers: { 'Retry-After': '60' },
  });

/** @throws Problem (403) for a scope that the key does not have */
const requireOwn = (scopes: readonly string[], { scopes: own }: Principal): void => {
  const missing = scopes
    .map((scope) => (scope === PERSONS_SCOPE ? 'readings:read' : scope))
    .find((scope) => !own.includes(scope));
  if (missing === undefined) return;
  throw new Problem('scope_missing', {
    detail: `A session has only scopes of its API key, and the key lacks ${missing}`,
    members: { scope: missing },
  });
};

/** Sessions that such callers may know of, newest first, also those that have ended in the last 30 days. */
export const pageOfSessions = async (
  pool: Pool,
  workspaceId: string,
  sees: readonly Mode[],
  limit: number,
  after: readonly string[] | null,
): Promise<readonly Session[]> => {
  // Callers of both modes know of all.
  const [mode, both] = sees;
  const { rows } = await pool.query<object>(
    `select session_id as "sessionId", opened_by as "openedBy", scopes, modes, created_at as "createdAt",
            started_at as "startedAt", expires_at as "expiresAt", ended_at as "endedAt"
     from workspaces.portal_session
     where workspace_id = $1 and ($5::text is null or ${MODE_SHOWN_TO} = $5)
       and ($3::timestamptz is null or (created_at, session_id) < ($3, $4::uuid))
     order by created_at desc, session_id desc limit $2`,
    [workspaceId, limit, after?.[0] ?? null, after?.[1] ?? null, both ? null : mode],
  );
  return rows.map((row) => asRecord<Session>(row));
};

/** Lets people into the workspace portal, shows who was let in, and ends their sessions. */
@Controller('api/v1/portal/sessions')
@Accepts({ apiKey: 'portal:write' })
@ApiTags('Portal')
export class PortalSessionsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly cursors: PageCursors,
    @Inject(CONFIG) private readonly config: PortalAddress,
    @Inject(POSTGRES) private readonly pool: Pool,
  ) {}

  @Post()
  @HttpCode(201)
  @ShownOnce('url')
  @ApiOperation({
    operationId: 'openPortalSession',
    summary: 'Open a session of the workspace portal',
    description:
      'The answer has a URL that lets one browser in, once, within 60 seconds. The session may do no more than the key, sees its mode, and ends with it. Only this answer shows the URL.',
  })
  @Answers(201, 'The session', openedSessionSchema)
  @Refuses('not_found')
  async open(@Body() body: OpenPortalSessionDto, @Caller() caller: Principal, @Req() request: Request) {
    if (!this.config.PORTAL) throw new Problem('not_found', { detail: 'This service has no portal' });
    if (caller.authMode === 'session')
      throw new Problem('auth_mode_not_allowed', { detail: 'A session of the portal opens no other' });
    const { language, timeZone, returnUrl = null, ttlSeconds } = body;
    const scopes = [...new Set(body.scopes)];
    requireOwn(scopes, caller);
    const opened = await this.commands.execute(
      new OpenPortal(
        caller.workspaceId,
        { scopes, modes: [caller.mode], language, timeZone, returnUrl, ttlSeconds },
        caller.actor.slice('apiKey:'.length),
        caller.actor,
      ),
    );
    if (!opened) throw tooManyOpen();
    const { sessionId, token, linkExpiresAt } = opened;
    return {
      sessionId,
      url: portalUrl(this.config, request.socket.localPort, `/enter/${token}`),
      urlExpiresAt: linkExpiresAt,
    };
  }

  @Get()
  @ApiOperation({
    operationId: 'listPortalSessions',
    summary: 'List the sessions of the workspace portal',
    description:
      'Returns the newest first, without secrets: those of the mode of the caller’s key, and those of an operator, which have both modes. Ended sessions stay listed for 30 days.',
  })
  @Answers(200, 'A page of sessions', sessionPageSchema)
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Caller() { workspaceId, sees }: Principal,
  ) {
    const scope = ['portal-sessions', workspaceId, ...sees] as const;
    const page = this.cursors.read(limit, cursor, ...scope);
    const rows = await pageOfSessions(this.pool, workspaceId, sees, page.limit + 1, page.after);
    return this.cursors.page(
      rows,
      page.limit,
      ({ createdAt, sessionId }) => [createdAt, sessionId],
      ...scope,
    );
  }

  @Delete(':sessionId')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'endPortalSession',
    summary: 'End a session of the workspace portal',
    description:
      'Its next request is refused, and its link if it has not begun. Ending it again changes nothing.',
  })
  @Names('sessionId', 'not_found', NAMED_SESSION)
  @Answers(204, 'The session has ended')
  async end(
    @Param('sessionId') sessionId: string,
    @Caller() { workspaceId, sees }: Principal,
  ): Promise<void> {
    const outcome = isUuid(sessionId)
      ? await this.commands.execute(new EndPortalSession(workspaceId, sees, sessionId))
      : 'unknown';
    if (outcome === 'foreign') throw new Problem('wrong_workspace');
    if (outcome === 'unknown') throw new Problem('not_found', { detail: 'There is no such session' });
  }
}
