import { z } from 'zod';
import { type OpenAPIObject, ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import { apiSchema, count, instant, text, uuid, refTo } from '#platform/http/openapi/api-schema.js';
import {
  VERIFICATION_NOTICE,
  type NoticeType,
  PUBLIC_EVENT_TYPES,
  type PublicEventType,
  NOTICE_TYPES,
  isNotice,
  type ToldEvent,
} from '../contracts/index.js';
import {
  type Finding,
  creditsExpiring,
  creditsLow,
  endpointDisabled,
  endpointFailing,
  keyExpiring,
  replayFinished,
  noticeOf,
  noticeOfFinding,
  probeOf,
} from '../domain/notice.js';
import { API_VERSION, madeUpEvent, withExternalId } from '../domain/public-event.js';
import { Controller, Get, Headers, Param, Query, Req, Res, Inject } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { Request, Response } from 'express';
import { GivesPersonalData, setAbout } from '#platform/audit/personal-data.js';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { PageCursors, tokensOfPage } from '#platform/http/page-cursor.js';
import { Problem } from '#platform/http/problem.js';
import { invalidParameter } from '#platform/http/query-parameters.js';
import { sendJson } from '#platform/http/send-json.js';
import { RateLimited } from '#platform/rate-limit/rate-limit.guard.js';
import {
  ChoiceQuery,
  LIVEMODE_SHOWN,
  readChoice,
  readModes,
  type QueryValue,
  NamesEvent,
  problemOf,
} from './routes.js';
import { deletedPast, pageOfFeed, wholeBody } from '../read-models/event-feed.js';
import type pg from 'pg';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { POSTGRES } from '#platform/postgres/pool.js';

const AT = '2026-04-04T09:30:00.000Z';
const EARLIER = '2026-04-04T08:30:00.000Z';
const LATER = '2026-04-11T00:00:00.000Z';
const workspaceId = 'ws_4rT9vXk2LmQ8sYw1ZbN6cD';
const endpointId = 'we_0b9a1c52-6f0e-4d7b-9a35-3f1f6a2f0c88';
const replayId = '2b7d9a40-1a6b-4c1f-8f0e-9d3c5b7a1e62';
const eventId = 'evt_9a1b6f0e-52c7-5d38-8e0a-1f4b7c2d9e60';
const ofEndpoint = { endpointId, workspaceId, modes: ['live'] as const };

const head = (type: string) => ({
  id: text(/^evt_/).describe(
    'The same in every attempt, redelivery and page; use it to recognise duplicates',
  ),
  type: z.literal(type).describe('What it is about'),
  apiVersion: z.literal(API_VERSION).describe('The version of this body'),
  createdAt: instant().describe('When it happened, or when the service found it'),
  workspaceId: z.string().describe('The workspace that is told'),
  livemode: z.boolean().describe('False for test readings, a test key, or an endpoint of test mode alone'),
});
const aboutEndpoint = { endpointId: text(/^we_/).describe('The endpoint') };
const path = (what: string) => z.string().describe(`Path of ${what}`);

interface Kind {
  readonly schema: z.ZodType<object>;
  readonly summary: string;
  readonly example: object;
}

/** Its words, what it is about, the members of `data`, its links, and a real body (JSON). */
type Told = readonly [
  said: readonly [string, string?],
  about: z.ZodRawShape,
  data: z.ZodRawShape,
  links: z.ZodRawShape,
  body: string,
];

/** The schema of one type of notice, with a real body as its example. */
const kind = (
  type: string,
  [[summary, description = `${summary}.`], about, data, links, body]: Told,
): Kind => {
  const details = z.object({ ...data, links: z.object(links).describe('Where to look') });
  const schema = z.object({ ...head(type), ...about, data: details.describe('What is known of it') });
  const example = JSON.parse(body) as object;
  const id = `${type.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}Notice`;
  return { schema: apiSchema<object>(id, schema, description, example), summary, example };
};

/** The body of a notice about what a scan found. */
const bodyOf = (finding: Finding): string => noticeOfFinding(finding, AT).body;

const counts = { items: 3, refused: 1, published: 1, failed: 1, erased: 0, notAccepted: 0 };
const metadata = {
  ...{ correlationId: '', causationId: '', workspaceId, actor: '' },
  ...{ occurredAt: AT, schemaVersion: 1 },
};
const ended = noticeOf({
  ...{ id: '', stream: 'batch-0d9b7c1e-2f64-8a35-9c1d-6e0f4b2a7d18', revision: 1n, position: 0n },
  type: 'BatchEnded',
  data: { workspaceId, livemode: true, ...counts, endedAt: AT },
  metadata,
});

const TOLD: Readonly<Record<NoticeType | typeof VERIFICATION_NOTICE, Told>> = {
  'batch.ended': [
    [
      'Each accepted reading of a batch has ended: published, failed or erased',
      'Each accepted reading of a batch has ended.',
    ],
    { batchId: uuid().describe('The batch') },
    {
      endedAt: instant().describe('`endedAt` of the batch'),
      counts: z
        .object({
          items: count().describe('Readings in the request'),
          refused: count().describe('Those that the request refused'),
          published: count().describe('Those whose documents can be fetched'),
          failed: count().describe('Those that failed'),
          erased: count().describe('Those whose personal data was erased'),
          notAccepted: count().describe(
            'Those that an interrupted request did not accept, and that no repeated request did within a day',
          ),
        })
        .describe('How the readings of the batch ended; all but `items` add up to it'),
    },
    { batch: path('the batch') },
    ended.body,
  ],
  'credits.expiring': [
    ['Credits of a grant expire within seven days'],
    {},
    {
      grantId: z.string().describe('The grant, as `GET /api/v1/credits` names it'),
      remaining: count().describe('Its credits that nothing has reserved'),
      expiresAt: instant().describe('When they expire'),
    },
    { credits: path('the credits') },
    bodyOf(creditsExpiring({ workspaceId, grantId: 'plan:1:2026-04', remaining: 120, expiresAt: LATER })),
  ],
  'credits.low': [
    ['Few credits are left of what the workspace had after its last grant'],
    {},
    {
      available: count().describe('Credits that can be reserved'),
      toppedUpTo: count().describe('Credits available and reserved after the last grant'),
      percent: count().describe('The mark: fewer than this share of `toppedUpTo` are available'),
    },
    { credits: path('the credits') },
    bodyOf(
      creditsLow({
        ...{ workspaceId, available: 20, toppedUpTo: 400 },
        ...{ toppedUpBy: 'plan:1:2026-04', percent: 10 },
      }),
    ),
  ],
  'endpoint.disabled': [
    ['The service has disabled an endpoint'],
    aboutEndpoint,
    {
      disabledAt: instant().describe('When it was disabled'),
      reason: z
        .enum(['gone', 'failing'])
        .describe('`gone`: it answered 410; `failing`: too long without a success'),
    },
    { endpoint: path('the endpoint') },
    bodyOf(endpointDisabled({ ...ofEndpoint, disabledAt: AT, reason: 'gone' })),
  ],
  'endpoint.failing': [
    ['No delivery has reached an endpoint for an hour'],
    aboutEndpoint,
    {
      failingSince: instant().describe('The first failure since the last success'),
      consecutiveFailures: count().describe('Failed attempts since the last success'),
    },
    { endpoint: path('the endpoint'), health: path('its health') },
    bodyOf(endpointFailing({ ...ofEndpoint, failingSince: EARLIER, consecutiveFailures: 4 })),
  ],
  [VERIFICATION_NOTICE]: [
    ['Answer 2xx if you expect webhooks at this URL', 'Asks a new endpoint whether it expects webhooks.'],
    aboutEndpoint,
    {},
    { endpoint: path('the endpoint') },
    probeOf({ ...ofEndpoint, url: 'https://receiver.example.com/hook', livemode: true, at: AT }).body,
  ],
  'key.expiring': [
    ['An API key expires within fourteen days'],
    { keyId: z.string().describe('The key, as the list of keys names it') },
    { expiresAt: instant().describe('When it stops working') },
    { keys: path('the keys') },
    bodyOf(keyExpiring({ workspaceId, mode: 'live', keyId: 'k3Xw9PqZ', expiresAt: LATER })),
  ],
  'replay.finished': [
    ['A replay has queued all its events, or was stopped'],
    { ...aboutEndpoint, replayId: uuid().describe('The replay') },
    {
      state: z.enum(['finished', 'stopped']).describe('How it ended'),
      events: count().describe('Events that it queued'),
      finishedAt: instant().describe('When it ended'),
    },
    { replay: path('the replay') },
    bodyOf(replayFinished({ ...ofEndpoint, replayId, state: 'finished', events: 41, finishedAt: AT })),
  ],
};

/** The kinds of notices, by type. */
const NOTICES = Object.fromEntries(
  Object.entries(TOLD).map(([type, told]) => [type, kind(type, told)]),
) as Readonly<Record<keyof typeof TOLD, Kind>>;

const { [VERIFICATION_NOTICE]: _, ...told } = NOTICES;

const noticeSchema = apiSchema<object>(
  'Notice',
  z.union(Object.values(told).map(({ schema }) => schema) as never),
  'What a workspace is told besides the events of its readings, without personal data. `type` tells which.',
  NOTICES['batch.ended'].example,
);

const READING_ID = '7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41';

const publicEvent = z.object({
  ...head(''),
  type: z.enum(PUBLIC_EVENT_TYPES).describe('What happened to the reading'),
  createdAt: instant().describe('When it happened'),
  workspaceId: z.string().describe('The workspace that owns the reading'),
  livemode: z.boolean().describe('False for an event of a test reading'),
  trial: z.literal(true).optional().describe('Only in a trial, which `POST …/test` sends'),
  readingId: uuid().describe('The reading that the event is about'),
  sequence: z
    .int()
    .min(0)
    .describe('Counts the public events of the reading, from 1 without gaps; 0 for a trial'),
  data: z
    .object({
      status: z
        .enum(['queued', 'processing', 'completed', 'failed'])
        .describe('The state of the reading at that moment'),
      document: z
        .object({
          available: z.boolean().describe('Whether it can be fetched'),
          version: z.int().min(1).nullable().describe('Counts the published documents of the reading'),
          artifactId: text(/^art_/).nullable().describe('Names this version of the document'),
          publishedAt: instant().nullable().describe('The date in the documents'),
        })
        .describe('The published document; its members are null until it is available'),
      error: z
        .object({
          code: z.string().describe('Why the reading failed'),
          title: z.string().describe('The same in words'),
          retryable: z.boolean().describe('Whether a new reading may succeed'),
          occurredAt: instant().describe('When the reading failed'),
        })
        .nullable()
        .describe('Only in `reading.failed`'),
      links: z
        .object({
          reading: z.string().describe('Path of the reading'),
          result: z.string().describe('Path of its result'),
          document: z.string().describe('Path of its document as `document_v1`'),
          markdown: z.string().describe('Path of its document as Markdown'),
          pdf: z.string().describe('Path of its document as PDF'),
        })
        .describe('Where to fetch what the event is about'),
    })
    .describe('The reading at that moment, without personal data'),
  externalId: z
    .string()
    .nullable()
    .optional()
    .describe(
      'Your own id of the reading; null without one, and after its erasure. Absent when your workspace switched it off, and in events of earlier versions',
    ),
});

type PublicEventBody = z.infer<typeof publicEvent>;

/** A real body of this type with example ids. */
const publicEventExample = (type: PublicEventType): PublicEventBody => {
  const { bodyHead, bodyTail } = madeUpEvent(
    { eventId, type, workspaceId, occurredAt: AT },
    {
      readingId: READING_ID,
      livemode: true,
      document: { version: 1, artifactId: `art_${READING_ID}`, publishedAt: AT },
    },
  );
  const sequence = type === 'reading.published' ? 2 : 1;
  return JSON.parse(withExternalId(`${bodyHead}${sequence}${bodyTail}`, 'order-4711')) as PublicEventBody;
};

const publicEventSchema = apiSchema(
  'PublicEvent',
  publicEvent,
  'An event about a reading, without personal data.',
  publicEventExample('reading.completed'),
);

const eventOrNoticeSchema = apiSchema(
  'EventOrNotice',
  z.union([publicEventSchema as z.ZodType<object>, noticeSchema]),
  'An event or a notice, as webhooks push it.',
  publicEventExample('reading.completed'),
);

const eventPageSchema = apiSchema(
  'EventPage',
  z.object({
    data: z
      .array(eventOrNoticeSchema)
      .describe('The events of this page; notices if you ask for their types'),
    nextCursor: z.string().describe('Never null: store it, and send it as `cursor` later'),
    hasMore: z.boolean().describe('Whether more events wait already'),
  }),
  'Events of the workspace, or its notices, oldest first.',
  {
    data: [publicEventExample('reading.completed')],
    nextCursor: 'q1ZKzi9KVbIy0FFKK8pNVrIyqgUA',
    hasMore: false,
  },
);

const SUMMARIES: Readonly<Record<PublicEventType, string>> = {
  'reading.completed': 'The result of a reading is available: `/result` answers 200',
  'reading.published': 'All formats of a document version are available',
  'reading.failed': 'A reading has failed, and its credits are released',
  'reading.delayed': 'A reading takes longer than usual',
};

const ASKED =
  'A notice: only for endpoints that ask for it in `notices`. Sent at least once, in no order with others. Signed and retried like an event, but without `X-Service-Event`.';
const UNASKED =
  'A notice to an endpoint that is not verified, where the operator has this required. Its events wait until it answers 2xx. Signed like an event, but without `X-Service-Event`.';

const header = (name: string, description: string, example: string, required = true) => ({
  name,
  in: 'header' as const,
  required,
  description,
  schema: { type: 'string' },
  example,
});

const TYPE = header('X-Service-Event', 'The type of the event', 'reading.completed');
const NOTICE_TYPE = header('X-Service-Notice', 'The type of the notice', 'batch.ended');

const DELIVERY_HEADERS = [
  header('X-Service-Timestamp', 'Unix seconds of this attempt', '1775295000'),
  header(
    'X-Service-Signature',
    'HMAC-SHA-256 of `{timestamp}.{raw body}`, keyed with the whole secret; during a rotation, one `v1` for each secret. Refuse timestamps more than 300 seconds off',
    't=1775295000,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd',
  ),
  header('X-Service-Event-Id', 'The `id` in the body', eventId),
  header(
    'X-Service-Delivery-Id',
    'The `deliveryId` of this delivery',
    '5e2f8f5c-8c4e-4c57-8d63-6a0a4f8f4f10',
  ),
  header('X-Service-Attempt', 'Counts from 1', '1'),
  header('X-Service-Test', '`true` for a trial', 'true', false),
  header('X-Service-Redelivery', '`true` for a redelivery or a replay', 'true', false),
  header('Webhook-Id', 'As in Standard Webhooks', eventId),
  header('Webhook-Timestamp', 'As in Standard Webhooks', '1775295000'),
  header(
    'Webhook-Signature',
    'As in Standard Webhooks; the key is the base64-decoded part of the same secret',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
];

/** The requests to webhook endpoints, for the `webhooks` of an OpenAPI 3.1 document. */
export const describeWebhooks = (): NonNullable<OpenAPIObject['webhooks']> => {
  const event =
    'Sent at least once, in the order of `sequence` for each reading. Verify the signature over the raw bytes first. Every attempt has the same body.';
  const events = PUBLIC_EVENT_TYPES.map((type) => {
    const told = { summary: SUMMARIES[type], schema: publicEventSchema, example: publicEventExample(type) };
    return [type, request(type, told, event, TYPE)];
  });
  const notices = [...NOTICE_TYPES, VERIFICATION_NOTICE].map((type) => {
    const description = type === VERIFICATION_NOTICE ? UNASKED : ASKED;
    return [type, request(type, NOTICES[type], description, NOTICE_TYPE)];
  });
  return Object.fromEntries([...events, ...notices]) as NonNullable<OpenAPIObject['webhooks']>;
};

const request = (
  type: string,
  { summary, schema, example }: { summary: string; schema: z.ZodType; example: object },
  description: string,
  typeHeader: ReturnType<typeof header>,
) => {
  const only = { type: 'string' as const, enum: [type], description: 'The type of this event' };
  const post = {
    operationId: type.replace(/\.(\w)/, (_, letter: string) => letter.toUpperCase()),
    tags: ['Webhooks'],
    summary,
    description,
    security: [],
    parameters: [typeHeader, ...DELIVERY_HEADERS],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: { allOf: [refTo(schema), { type: 'object' as const, properties: { type: only } }] },
          example,
        },
      },
    },
    responses: {
      '2XX': {
        description: 'Received, within 15 seconds. The service retries any other outcome over three days',
      },
      '410': { description: 'The endpoint is disabled at once' },
    },
  };
  return { post };
};

const EVENT_ID = /^evt_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The position before the first event, for the cursor of an empty feed. */
const BEFORE_THE_FIRST = '-1';
const TYPES = [...PUBLIC_EVENT_TYPES, ...NOTICE_TYPES];

@Controller('api/v1/events')
@Accepts({ apiKey: 'events:read', bearer: 'events:read' })
@ApiTags('Events')
export class EventsController {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    private readonly cursors: PageCursors,
    private readonly queries: QueryBus,
  ) {}

  @Get()
  @RateLimited('read', tokensOfPage)
  @GivesPersonalData()
  @ApiOperation({
    operationId: 'listEvents',
    summary: 'Pull the events of the workspace',
    description:
      'Returns the oldest events first, with the same ids, bytes and order as webhooks; or the notices of the workspace, whether an endpoint asked for them or not. `nextCursor` is never null: store it and send it as `cursor` later, so that you miss no event. A cursor that is so old that events after it are deleted is 410. A page counts as one request of the policy `read` for each 20 events that it may have.',
  })
  @ChoiceQuery(
    'type',
    TYPES,
    'Comma-separated types of events, or of notices; default: all types of events. A cursor is valid only with the same types',
  )
  @ApiQuery(LIVEMODE_SHOWN)
  @Answers(200, 'A page of events', eventPageSchema, ['ETag'])
  @Refuses('unsupported_event_type', 'no_longer_kept')
  async list(
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Query('type') type: QueryValue,
    @Query('livemode') livemode: QueryValue,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Caller() caller: Principal,
    @Res() response: Response,
  ): Promise<void> {
    const chosen = readChoice('type', type, TYPES, 'unsupported_event_type');
    const types = chosen ?? PUBLIC_EVENT_TYPES;
    const { workspaceId } = caller;
    const modes = readModes(livemode, caller);
    const scope = ['events', workspaceId, ...modes, ...(chosen ?? [])];
    const { limit: count, after } = this.cursors.read(limit, cursor, ...scope);
    const start = after?.[0] ?? null;
    if (types.some(isNotice) && !types.every(isNotice))
      throw invalidParameter(
        'type',
        'must name types of events, or of notices: each has an order of its own',
      );
    const found = await pageOfFeed(this.pool, workspaceId, count + 1, start, types, modes);
    const shown = found.slice(0, count);
    const bodies = await Promise.all(shown.map((event) => wholeBody(event, this.queries)));
    // After the page was read, so that nothing can be deleted in between unnoticed.
    const past = await deletedPast(this.pool, workspaceId, types, modes);
    if (start !== null && past !== null && BigInt(past.position) > BigInt(start))
      throw problemOf({ outcome: 'no_longer_kept', keptSince: past.keptSince, field: '?cursor' });
    const end = shown.at(-1)?.position ?? start ?? past?.position ?? BEFORE_THE_FIRST;
    const rest = JSON.stringify({
      nextCursor: this.cursors.seal([end], ...scope),
      hasMore: found.length > count,
    });
    sendJson(response, `{"data":[${bodies.join()}],${rest.slice(1)}`, ifNoneMatch);
  }

  @Get(':eventId')
  @GivesPersonalData()
  @ApiOperation({
    operationId: 'getEvent',
    summary: 'Get an event',
    description:
      'Returns the same bytes as its webhooks; also those of a notice. Once events of the workspace are deleted after their term, an unknown id is 410: the service keeps no list of deleted ids.',
  })
  @NamesEvent()
  @Answers(200, 'The event or notice', eventOrNoticeSchema, ['ETag'])
  @Refuses('no_longer_kept')
  async one(
    @Param('eventId') eventId: string,
    @Headers('if-none-match') ifNoneMatch: string | undefined,
    @Caller() { workspaceId, sees }: Principal,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const event = await this.find(eventId, sees);
    if (event === null) throw await this.missing(workspaceId, sees);
    if (event.workspaceId !== workspaceId) throw new Problem('wrong_workspace');
    if (event.readingId !== null) setAbout(request, event.readingId);
    sendJson(response, await wholeBody(event, this.queries), ifNoneMatch);
  }

  /** An event or a notice; `null`: there is none of these modes. Trials are in no feed. */
  private async find(eventId: string, modes: readonly Mode[]) {
    if (!EVENT_ID.test(eventId)) return null;
    const { rows } = await this.pool.query<Omit<ToldEvent, 'position'> & { readonly workspaceId: string }>(
      `select workspace_id as "workspaceId", reading_id as "readingId", body, shows_external_id as "showsExternalId"
       from webhooks.public_event event
       where event_id = $1 and (position is not null or reading_id is null) and livemode = any ($2::boolean[])`,
      [eventId, modes.map((mode) => mode === 'live')],
    );
    return rows[0] ?? null;
  }

  /** Depends on the caller's own workspace alone, so it tells nothing of others. */
  private async missing(workspaceId: string, modes: Principal['sees']): Promise<Problem> {
    const past = await deletedPast(this.pool, workspaceId, null, modes);
    return past === null
      ? new Problem('not_found', { detail: 'The workspace has no such event' })
      : problemOf({ outcome: 'no_longer_kept', keptSince: past.keptSince, field: null });
  }
}
