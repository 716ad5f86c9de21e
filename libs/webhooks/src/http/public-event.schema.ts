import { z } from 'zod';
import { apiSchema, instant, text, uuid } from '@app/platform/http/openapi/api-schema.js';
import { PUBLIC_EVENT_TYPES, type PublicEventType } from '../contracts/event-types.js';
import { API_VERSION, sampleEvent } from '../domain/delivery/public-event.js';

const READING_ID = '7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41';

const publicEvent = z.object({
  id: text(/^evt_/).describe(
    'The same in every attempt, redelivery and page; use it to recognise duplicates',
  ),
  type: z.enum(PUBLIC_EVENT_TYPES),
  apiVersion: z.literal(API_VERSION),
  createdAt: instant(),
  workspaceId: z.string(),
  readingId: uuid(),
  sequence: z
    .int()
    .min(0)
    .describe('Counts the public events of the reading, from 1 without gaps; 0 for a test event'),
  data: z.object({
    status: z.enum(['queued', 'processing', 'completed', 'failed']),
    document: z.object({
      available: z.boolean(),
      version: z.int().min(1).nullable(),
      artifactId: text(/^art_/).nullable(),
      publishedAt: instant().nullable(),
    }),
    error: z
      .object({
        code: z.string(),
        title: z.string(),
        retryable: z.boolean(),
        occurredAt: instant(),
      })
      .nullable()
      .describe('Only in `reading.failed`'),
    links: z.object({ reading: z.string(), result: z.string(), document: z.string() }),
  }),
});

type PublicEventBody = z.infer<typeof publicEvent>;

/** A real body of this type with example ids. */
export const publicEventExample = (type: PublicEventType): PublicEventBody => {
  const { bodyHead, bodyTail } = sampleEvent({
    eventId: 'evt_9a1b6f0e-52c7-5d38-8e0a-1f4b7c2d9e60',
    type,
    workspaceId: 'ws_4rT9vXk2LmQ8sYw1ZbN6cD',
    readingId: READING_ID,
    occurredAt: '2026-04-04T09:30:00.000Z',
  });
  return JSON.parse(`${bodyHead}1${bodyTail}`) as PublicEventBody;
};

export const publicEventSchema = apiSchema(
  'PublicEvent',
  publicEvent,
  'An event about a reading, without personal data.',
  publicEventExample('reading.completed'),
);

export const eventPageSchema = apiSchema(
  'EventPage',
  z.object({
    data: z.array(publicEvent),
    nextCursor: z.string().describe('Never null: store it, and send it as `cursor` later'),
    hasMore: z.boolean(),
  }),
  'Events of the workspace, oldest first.',
  {
    data: [publicEventExample('reading.completed')],
    nextCursor: 'q1ZKzi9KVbIy0FFKK8pNVrIyqgUA',
    hasMore: false,
  },
);
