import { z } from 'zod';
import { apiSchema, count, instant, text, uuid } from '#platform/http/openapi/api-schema.js';
import { VERIFICATION_NOTICE, type NoticeType } from '../contracts/notice-types.js';
import {
  creditsExpiring,
  creditsLow,
  endpointDisabled,
  endpointFailing,
  keyExpiring,
  replayFinished,
} from '../domain/notice/finding.js';
import { noticeOf, noticeOfFinding } from '../domain/notice/notice.js';
import { probeOf } from '../domain/notice/probe.js';
import { API_VERSION } from '../domain/delivery/public-event.js';

const AT = '2026-04-04T09:30:00.000Z';
const EARLIER = '2026-04-04T08:30:00.000Z';
const LATER = '2026-04-11T00:00:00.000Z';
const workspaceId = 'ws_4rT9vXk2LmQ8sYw1ZbN6cD';
const endpointId = 'we_0b9a1c52-6f0e-4d7b-9a35-3f1f6a2f0c88';
const replayId = '2b7d9a40-1a6b-4c1f-8f0e-9d3c5b7a1e62';
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
  readonly example: object;
}

/** The schema of one type of notice, with a real body as its example. @param body JSON */
const kind = (
  id: string,
  type: string,
  description: string,
  about: z.ZodRawShape,
  data: z.ZodRawShape,
  links: z.ZodRawShape,
  body: string,
): Kind => {
  const details = z.object({ ...data, links: z.object(links).describe('Where to look') });
  const schema = z.object({ ...head(type), ...about, data: details.describe('What is known of it') });
  const example = JSON.parse(body) as object;
  return { schema: apiSchema<object>(id, schema, description, example), example };
};

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

/** Each type of notice. */
export const NOTICES: Readonly<Record<NoticeType | typeof VERIFICATION_NOTICE, Kind>> = {
  'batch.ended': kind(
    'BatchEndedNotice',
    'batch.ended',
    'Each accepted reading of a batch has ended.',
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
  ),
  'credits.expiring': kind(
    'CreditsExpiringNotice',
    'credits.expiring',
    'Credits of a grant expire within seven days.',
    {},
    {
      grantId: z.string().describe('The grant, as `GET /api/v1/credits` names it'),
      remaining: count().describe('Its credits that nothing has reserved'),
      expiresAt: instant().describe('When they expire'),
    },
    { credits: path('the credits') },
    noticeOfFinding(
      creditsExpiring({ workspaceId, grantId: 'plan:1:2026-04', remaining: 120, expiresAt: LATER }),
      AT,
    ).body,
  ),
  'credits.low': kind(
    'CreditsLowNotice',
    'credits.low',
    'Few credits are left of what the workspace had after its last grant.',
    {},
    {
      available: count().describe('Credits that can be reserved'),
      toppedUpTo: count().describe('Credits available and reserved after the last grant'),
      percent: count().describe('The mark: fewer than this share of `toppedUpTo` are available'),
    },
    { credits: path('the credits') },
    noticeOfFinding(
      creditsLow({
        ...{ workspaceId, available: 20, toppedUpTo: 400 },
        ...{ toppedUpBy: 'plan:1:2026-04', percent: 10 },
      }),
      AT,
    ).body,
  ),
  'endpoint.disabled': kind(
    'EndpointDisabledNotice',
    'endpoint.disabled',
    'The service has disabled an endpoint.',
    aboutEndpoint,
    {
      disabledAt: instant().describe('When it was disabled'),
      reason: z
        .enum(['gone', 'failing'])
        .describe('`gone`: it answered 410; `failing`: too long without a success'),
    },
    { endpoint: path('the endpoint') },
    noticeOfFinding(endpointDisabled({ ...ofEndpoint, disabledAt: AT, reason: 'gone' }), AT).body,
  ),
  'endpoint.failing': kind(
    'EndpointFailingNotice',
    'endpoint.failing',
    'No delivery has reached an endpoint for an hour.',
    aboutEndpoint,
    {
      failingSince: instant().describe('The first failure since the last success'),
      consecutiveFailures: count().describe('Failed attempts since the last success'),
    },
    { endpoint: path('the endpoint'), health: path('its health') },
    noticeOfFinding(endpointFailing({ ...ofEndpoint, failingSince: EARLIER, consecutiveFailures: 4 }), AT)
      .body,
  ),
  [VERIFICATION_NOTICE]: kind(
    'EndpointVerificationNotice',
    VERIFICATION_NOTICE,
    'Asks a new endpoint whether it expects webhooks.',
    aboutEndpoint,
    {},
    { endpoint: path('the endpoint') },
    probeOf({ ...ofEndpoint, url: 'https://receiver.example.com/hook', livemode: true, at: AT }).body,
  ),
  'key.expiring': kind(
    'KeyExpiringNotice',
    'key.expiring',
    'An API key expires within fourteen days.',
    { keyId: z.string().describe('The key, as the list of keys names it') },
    { expiresAt: instant().describe('When it stops working') },
    { keys: path('the keys') },
    noticeOfFinding(keyExpiring({ workspaceId, mode: 'live', keyId: 'k3Xw9PqZ', expiresAt: LATER }), AT).body,
  ),
  'replay.finished': kind(
    'ReplayFinishedNotice',
    'replay.finished',
    'A replay has queued all its events, or was stopped.',
    { ...aboutEndpoint, replayId: uuid().describe('The replay') },
    {
      state: z.enum(['finished', 'stopped']).describe('How it ended'),
      events: count().describe('Events that it queued'),
      finishedAt: instant().describe('When it ended'),
    },
    { replay: path('the replay') },
    noticeOfFinding(
      replayFinished({ ...ofEndpoint, replayId, state: 'finished', events: 41, finishedAt: AT }),
      AT,
    ).body,
  ),
};

const { [VERIFICATION_NOTICE]: _, ...told } = NOTICES;

export const noticeSchema = apiSchema<object>(
  'Notice',
  z.union(Object.values(told).map(({ schema }) => schema) as never),
  'What a workspace is told besides the events of its readings, without personal data. `type` tells which.',
  NOTICES['batch.ended'].example,
);
