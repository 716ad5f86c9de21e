import { z } from 'zod';
import { apiSchema, instant, text, uuid } from '#platform/http/openapi/api-schema.js';
import { PUBLIC_EVENT_TYPES, type PublicEventType } from '../contracts/event-types.js';
import { API_VERSION, madeUpEvent, withExternalId } from '../domain/delivery/public-event.js';
import { noticeSchema } from './notice.schema.js';

const READING_ID = '7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41';
const AT = '2026-04-04T09:30:00.000Z';

const publicEvent = z.object({
  id: text(/^evt_/).describe(
    'The same in every attempt, redelivery and page; use it to recognise duplicates',
  ),
  type: z.enum(PUBLIC_EVENT_TYPES).describe('What happened to the reading'),
  apiVersion: z.literal(API_VERSION).describe('The version of this body'),
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
export const publicEventExample = (type: PublicEventType): PublicEventBody => {
  const { bodyHead, bodyTail } = madeUpEvent(
    {
      eventId: 'evt_9a1b6f0e-52c7-5d38-8e0a-1f4b7c2d9e60',
      type,
      workspaceId: 'ws_4rT9vXk2LmQ8sYw1ZbN6cD',
      occurredAt: AT,
    },
    {
      readingId: READING_ID,
      livemode: true,
      document: { version: 1, artifactId: `art_${READING_ID}`, publishedAt: AT },
    },
  );
  const sequence = type === 'reading.published' ? 2 : 1;
  return JSON.parse(withExternalId(`${bodyHead}${sequence}${bodyTail}`, 'order-4711')) as PublicEventBody;
};

export const publicEventSchema = apiSchema(
  'PublicEvent',
  publicEvent,
  'An event about a reading, without personal data.',
  publicEventExample('reading.completed'),
);

export const eventOrNoticeSchema = apiSchema(
  'EventOrNotice',
  z.union([publicEventSchema as z.ZodType<object>, noticeSchema]),
  'An event or a notice, as webhooks push it.',
  publicEventExample('reading.completed'),
);

export const eventPageSchema = apiSchema(
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
