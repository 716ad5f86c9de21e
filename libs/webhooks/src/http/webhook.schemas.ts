import { z } from 'zod';
import { MODES } from '#event-sourcing/core/request-context.js';
import { apiPage, apiSchema, count, instant, text, uuid } from '#platform/http/openapi/api-schema.js';
import { DELIVERY_STATUSES, REPLAYABLE_STATUSES, type ReplayRecord } from '../contracts/deliveries.js';
import type { WebhookEndpointRecord, QueueHealthRecord, EndpointStats } from '../contracts/endpoints.js';
import { DISABLED_REASONS, PUBLIC_EVENT_TYPES, NOTICE_TYPES } from '../contracts/events.js';
import { ATTEMPT_ERRORS } from '../domain/attempt.js';
import type { AttemptRecord, DeliveryRecord } from '../read-models/deliveries.js';

const ENDPOINT_ID = 'we_0b9a1c52-6f0e-4d7b-9a35-3f1f6a2f0c88';
const DELIVERY_ID = '5e2f8f5c-8c4e-4c57-8d63-6a0a4f8f4f10';
const REPLAY_ID = '2b7d9a40-1a6b-4c1f-8f0e-9d3c5b7a1e62';
const READING_ID = '7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41';
const AT = '2026-04-04T09:30:00.000Z';

export const NAMED_ENDPOINT = { description: 'The `endpointId` of the endpoint', example: ENDPOINT_ID };
export const NAMED_DELIVERY = { description: 'The `deliveryId` of the delivery', example: DELIVERY_ID };
export const NAMED_EVENT = {
  description: 'The `id` of the event',
  example: 'evt_9a1b6f0e-52c7-5d38-8e0a-1f4b7c2d9e60',
};
export const NAMED_REPLAY = { description: 'The `replayId` of the replay', example: REPLAY_ID };

const endpointId = () => text(/^we_[0-9a-f-]{36}$/);
const eventType = () => z.enum(PUBLIC_EVENT_TYPES);
const deliveredType = () => z.enum([...PUBLIC_EVENT_TYPES, ...NOTICE_TYPES]);

const health = z.object({
  state: z
    .enum(['ok', 'failing', 'disabled', 'unverified'])
    .describe('Whether deliveries arrive. `unverified`: they wait until the receiver has answered a probe'),
  failingSince: instant().nullable().describe('The first failure since the last success'),
  disabledReason: z.enum(DISABLED_REASONS).nullable().describe('Why it receives nothing; null while enabled'),
  consecutiveFailures: count().describe('Failed attempts since the last success'),
});

const endpoint = z.object({
  endpointId: endpointId().describe('Names the endpoint in paths'),
  url: z.string().describe('Where deliveries are sent'),
  events: z.array(eventType()).describe('The event types that it receives'),
  modes: z.array(z.enum(MODES)).describe('Of the readings whose events it receives'),
  notices: z.array(z.enum(NOTICE_TYPES)).describe('What it is told besides events, of the same modes'),
  enabled: z.boolean().describe('Whether deliveries are sent'),
  description: z.string().nullable().describe('As given by you'),
  headerNames: z
    .array(z.string())
    .describe('Names of the custom headers, in lower case; their values are never shown'),
  maxPerSecond: z
    .int()
    .nullable()
    .describe('Deliveries sent in a second, at most; null: no limit of its own'),
  createdAt: instant().describe('When it was created'),
  updatedAt: instant().describe('When it was last changed'),
  health: health.describe('Whether its deliveries arrive'),
  secretHint: z.string().describe('The last four characters of the newest secret'),
});

const endpointExample: z.infer<typeof endpoint> = {
  endpointId: ENDPOINT_ID,
  url: 'https://receiver.example.com/hook',
  events: ['reading.completed', 'reading.published'],
  modes: ['live'],
  notices: [],
  enabled: true,
  description: 'orders',
  headerNames: ['authorization'],
  maxPerSecond: null,
  createdAt: AT,
  updatedAt: AT,
  health: { state: 'ok', failingSince: null, disabledReason: null, consecutiveFailures: 0 },
  secretHint: 'q9Zw',
};

const SECRET = 'whsec_bKk0T2r5mY8vQ1xW4zC7nA3dF6gH9jL0pS5uE2iR8oq9Zw';
const signingSecret = () => z.string().describe('Signs deliveries; only this response contains it');

export const endpointSchema = apiSchema<WebhookEndpointRecord>(
  'WebhookEndpoint',
  endpoint,
  'A webhook endpoint. Its secret is never shown again.',
  endpointExample,
);

export const endpointPageSchema = apiPage(
  'WebhookEndpointPage',
  endpointSchema,
  'Webhook endpoints, newest first.',
  endpointExample,
);

export const createdEndpointSchema = apiSchema(
  'CreatedWebhookEndpoint',
  endpoint.extend({
    signingSecret: signingSecret()
      .optional()
      .describe('Only this response contains it; a response repeated for an `Idempotency-Key` omits it'),
  }),
  'A new endpoint.',
  { ...endpointExample, signingSecret: SECRET },
);

export const changedEndpointSchema = apiSchema(
  'ChangedWebhookEndpoint',
  endpoint.extend({
    skippedDeliveries: count()
      .optional()
      .describe('If the change enabled it: deliveries skipped while it was disabled'),
  }),
  'An endpoint after a change.',
  { ...endpointExample, skippedDeliveries: 3 },
);

export const rotatedEndpointSchema = apiSchema(
  'RotatedWebhookEndpoint',
  endpoint.extend({
    signingSecret: signingSecret().optional(),
    previousValidUntil: instant().describe('Until then, both secrets sign deliveries'),
  }),
  'An endpoint with a new secret.',
  { ...endpointExample, signingSecret: SECRET, previousValidUntil: '2026-04-05T09:30:00.000Z' },
);

export const endpointHealthSchema = apiSchema<WebhookEndpointRecord['health'] & QueueHealthRecord>(
  'WebhookEndpointHealth',
  health.extend({
    pending: count().describe('Deliveries not settled yet'),
    queueAgeSeconds: z.number().min(0).describe('Time since the oldest due delivery became due'),
    nextAttemptAt: instant().nullable().describe('When the next attempt is due; null: none is'),
    lastSuccessAt: instant()
      .nullable()
      .describe('The last attempt that the receiver accepted. `null`: none in 35 days (by default)'),
    attempts: z
      .record(z.string(), count())
      .describe(
        'Attempts of this hour (UTC) and the 23 before it by outcome: `succeeded`, or the class of failure',
      ),
  }),
  'The health of an endpoint and of its queue.',
  {
    ...endpointExample.health,
    pending: 1,
    queueAgeSeconds: 0,
    nextAttemptAt: '2026-04-04T09:35:00.000Z',
    lastSuccessAt: AT,
    attempts: { succeeded: 41, timeout: 1 },
  },
);

const attempt = z.object({
  number: z.int().min(1).describe('Counts the attempts of the delivery'),
  startedAt: instant().describe('When the request was sent'),
  durationMs: count().describe('Milliseconds until the answer or the failure'),
  statusCode: z.int().nullable().describe('null: the receiver did not answer'),
  error: z.enum(ATTEMPT_ERRORS).nullable().describe('null: the attempt succeeded'),
});

const delivery = z.object({
  deliveryId: uuid().describe('Names the delivery in paths'),
  eventId: text(/^evt_/).describe('The event or notice that it delivers'),
  type: deliveredType().describe('The type of the event or notice'),
  readingId: uuid().nullable().describe('The reading that the event is about; null for a notice'),
  livemode: z.boolean().describe('False for an event of a test reading'),
  sequence: count().describe('Number of the event among the public events of the reading; 0 for a notice'),
  status: z.enum(DELIVERY_STATUSES).describe('Where the delivery stands; only `pending` changes'),
  attempts: count().describe('Attempts so far'),
  nextAttemptAt: instant().nullable().describe('When the next attempt is due; null once settled'),
  test: z.boolean().describe('Whether `POST …/test` created it'),
  redelivery: z.boolean().describe('Whether a person asked to send it again'),
  replayId: uuid().nullable().describe('The replay that created the delivery'),
  createdAt: instant().describe('When it was created'),
  settledAt: instant().nullable().describe('When its status became final'),
  lastAttempt: attempt.nullable().describe('The newest attempt'),
});

const attemptExample: AttemptRecord = {
  number: 1,
  startedAt: AT,
  durationMs: 84,
  statusCode: 204,
  error: null,
};
const deliveryExample: DeliveryRecord = {
  deliveryId: DELIVERY_ID,
  eventId: 'evt_9a1b6f0e-52c7-5d38-8e0a-1f4b7c2d9e60',
  type: 'reading.completed',
  readingId: READING_ID,
  livemode: true,
  sequence: 1,
  status: 'succeeded',
  attempts: 1,
  nextAttemptAt: null,
  test: false,
  redelivery: false,
  replayId: null,
  createdAt: AT,
  settledAt: AT,
  lastAttempt: attemptExample,
};

export const deliverySchema = apiSchema<DeliveryRecord>(
  'Delivery',
  delivery,
  'The delivery of one event to one endpoint.',
  deliveryExample,
);

export const deliveryPageSchema = apiPage(
  'DeliveryPage',
  deliverySchema,
  'Deliveries, newest first.',
  deliveryExample,
);

export const deliveryHistorySchema = apiSchema<DeliveryRecord & { history: readonly AttemptRecord[] }>(
  'DeliveryHistory',
  delivery.extend({ history: z.array(attempt).describe('Every attempt, oldest first') }),
  'A delivery with all its attempts.',
  { ...deliveryExample, history: [attemptExample] },
);

export const replaySchema = apiSchema<ReplayRecord>(
  'Replay',
  z.object({
    replayId: uuid().describe('Names the replay in paths'),
    endpointId: endpointId().describe('The endpoint that receives the events'),
    since: instant().describe('The earliest events, inclusive'),
    until: instant().describe('The latest events, exclusive'),
    types: z.array(eventType()).describe('The event types to send'),
    statuses: z
      .array(z.enum(REPLAYABLE_STATUSES))
      .describe('What became of the events at this endpoint before'),
    modes: z.array(z.enum(MODES)).describe('Of the readings whose events it sends'),
    dryRun: z.boolean().describe('Whether it only counts'),
    state: z
      .enum(['queued', 'running', 'finished', 'stopped'])
      .describe(
        '`stopped`: by request, after a day without progress, or because the endpoint was disabled or deleted',
      ),
    events: count().describe('Events selected so far; final once the replay has finished'),
    progress: z.number().min(0).max(1).describe('Share of the log that has been read'),
    deliveries: z
      .object({
        pending: count().describe('Not settled yet'),
        succeeded: count().describe('Accepted by the receiver'),
        exhausted: count().describe('Given up after the last attempt'),
        skipped: count().describe('Not sent, because the endpoint was disabled'),
      })
      .describe('Deliveries of these events by status; all zero in a dry run'),
    createdAt: instant().describe('When it was requested'),
    finishedAt: instant().nullable().describe('When it finished or stopped'),
  }),
  'Sends past events again.',
  {
    replayId: REPLAY_ID,
    endpointId: ENDPOINT_ID,
    since: '2026-04-01T00:00:00.000Z',
    until: AT,
    types: ['reading.completed'],
    statuses: ['missing', 'skipped', 'exhausted'],
    modes: ['live'],
    dryRun: false,
    state: 'queued',
    events: 0,
    progress: 0,
    deliveries: { pending: 0, succeeded: 0, exhausted: 0, skipped: 0 },
    createdAt: AT,
    finishedAt: null,
  },
);

const figures = {
  attempts: z
    .record(z.string(), count())
    .describe('Attempts by outcome: `succeeded`, or the class of failure'),
  latencyMs: z
    .object({
      p50: count().describe('Half of them took at most so long'),
      p95: count().describe('95 % of them'),
      p99: count().describe('99 % of them'),
    })
    .nullable()
    .describe('How long successful attempts took, in milliseconds; null: none succeeded'),
};
const example = { attempts: { succeeded: 41, timeout: 1 }, latencyMs: { p50: 84, p95: 190, p99: 310 } };

export const endpointStatsSchema = apiSchema<EndpointStats & { since: string; until: string }>(
  'WebhookEndpointStats',
  z.object({
    since: instant().describe('The beginning of the first hour'),
    until: instant().describe('The end of the time, exclusive'),
    hours: z
      .array(z.object({ hour: instant().describe('Its beginning'), ...figures }))
      .describe('Hours with attempts, oldest first'),
    total: z.object(figures).describe('All hours together'),
  }),
  'The attempts of an endpoint by hour.',
  {
    since: '2026-04-04T09:00:00.000Z',
    until: '2026-04-04T10:00:00.000Z',
    hours: [{ hour: '2026-04-04T09:00:00.000Z', ...example }],
    total: example,
  },
);
