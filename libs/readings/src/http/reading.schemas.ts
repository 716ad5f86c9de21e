import { z } from 'zod';
import { apiPage, apiSchema, count, instant, text, uuid } from '#platform/http/openapi/api-schema.js';
import { FAILURE_CODES } from '../contracts/events.js';
import { READING_STATUSES } from '../contracts/messages.js';
import { HISTORY_TYPES, type HistoryEvent } from '../domain/reading-history.js';
import type { readingSummaryView, ReadingView } from '../projections.js';

/** Seconds a caller should wait before asking again about an unfinished reading. */
export const POLL_AFTER = '2';

const EXAMPLE_ID = '7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41';

const workspaceId = () => text(/^ws_[0-9A-Za-z]{22}$/);

const summary = {
  readingId: uuid().describe('Names the reading in every path and event'),
  workspaceId: workspaceId().describe('The workspace that owns the reading'),
  livemode: z.boolean().describe('False for a test reading'),
  status: z.enum(READING_STATUSES).describe('The last two are final'),
  productId: z.string().describe('What was ordered'),
  profileId: z.string().describe('The rules of the calculation'),
  locale: z.enum(['fr-FR', 'en-US']).describe('Language of the texts'),
  externalId: z
    .string()
    .nullable()
    .describe('Your own id, as sent; null without one, and after the personal data was erased'),
  metadata: z
    .record(z.string(), z.string())
    .nullable()
    .describe('Your own notes, as sent; null without any, and after the personal data was erased'),
  document: z
    .object({
      available: z.boolean().describe('Whether it can be fetched'),
      version: z.int().min(1).nullable().describe('Counts the published documents of the reading'),
      artifactId: text(/^art_/).nullable().describe('Names this version of the document'),
      publishedAt: instant().nullable().describe('The date in the documents: when their rendering started'),
    })
    .describe('The published document; its members are null until it is available'),
  error: z
    .object({
      code: z.enum(FAILURE_CODES).describe('Why the reading failed'),
      title: z.string().describe('The same in words'),
      retryable: z.boolean().describe('Whether a new reading may succeed'),
      occurredAt: instant().describe('When the reading failed'),
    })
    .nullable()
    .describe('Only for a failed reading'),
  createdAt: instant().describe('When the service accepted it'),
  updatedAt: instant().describe('When its state last changed'),
  completedAt: instant()
    .nullable()
    .describe('When its result was ready; null before that, and for a failed reading'),
  erasedAt: instant().nullable().describe('When its personal data was erased'),
};

const summaryExample: ReturnType<typeof readingSummaryView> = {
  readingId: EXAMPLE_ID,
  workspaceId: 'ws_4rT9vXk2LmQ8sYw1ZbN6cD',
  livemode: true,
  status: 'queued',
  productId: 'theme',
  profileId: 'evan',
  locale: 'fr-FR',
  externalId: 'order-4711',
  metadata: { shop: 'paris', gift: 'yes' },
  document: { available: false, version: null, artifactId: null, publishedAt: null },
  error: null,
  createdAt: '2026-04-04T09:30:00.000Z',
  updatedAt: '2026-04-04T09:30:00.000Z',
  completedAt: null,
  erasedAt: null,
};

/** What the path of a reading's routes names. */
export const NAMED_READING = {
  description: 'The `readingId` from the response to its creation',
  example: EXAMPLE_ID,
};

const names = () => z.array(z.string());

export const readingSchema = apiSchema<ReadingView>(
  'Reading',
  z.object({
    ...summary,
    input: z
      .object({
        name: z
          .object({
            firstNames: names().describe('Given names'),
            middleNames: names().describe('Middle names; may be empty'),
            lastNames: names().describe('Family names at birth'),
          })
          .describe('The name at birth'),
        displayName: z
          .string()
          .describe('First, middle and last names, with single spaces between all words'),
        dateOfBirth: z
          .string()
          .meta({ format: 'date' })
          .describe('The date of birth, in the Gregorian calendar'),
        grammaticalProfile: z
          .object({ subjectGender: z.string().describe('The grammatical gender that texts use') })
          .describe('How texts speak of the person'),
      })
      .nullable()
      .describe('Exactly as sent; null after the personal data was erased'),
  }),
  'A reading: its input and its current state.',
  {
    ...summaryExample,
    input: {
      name: { firstNames: ['Zoé'], middleNames: ['Marie'], lastNames: ['Lefèvre'] },
      displayName: 'Zoé Marie Lefèvre',
      dateOfBirth: '1990-04-12',
      grammaticalProfile: { subjectGender: 'feminine' },
    },
  },
);

const readingSummarySchema = apiSchema<ReturnType<typeof readingSummaryView>>(
  'ReadingSummary',
  z.object(summary),
  'A reading without the person, as in lists.',
  summaryExample,
);

export const readingPageSchema = apiPage(
  'ReadingPage',
  readingSummarySchema,
  'Readings, newest first.',
  summaryExample,
);

const historyExample: HistoryEvent = {
  revision: 1,
  type: 'started',
  occurredAt: '2026-04-04T09:30:00.120Z',
  data: { attempt: 1 },
};

const historyEventSchema = apiSchema<HistoryEvent>(
  'ReadingHistoryEvent',
  z.object({
    revision: count().describe('Its number in the history of the reading, from 0 without gaps'),
    type: z.enum(HISTORY_TYPES).describe('What happened'),
    occurredAt: instant().describe('When it happened'),
    data: z
      .object({
        cost: count().optional().describe('Only for `requested`: the credits held'),
        attempt: z.int().min(1).optional().describe('Only for `started`, `attempt_failed` and `completed`'),
        code: z.enum(FAILURE_CODES).optional().describe('Only for `attempt_failed` and `failed`'),
        retryAt: instant().optional().describe('Only for `attempt_failed`'),
        attempts: count().optional().describe('Only for `failed`'),
      })
      .describe('Details of the event, without personal data'),
  }),
  'An event of a reading.',
  historyExample,
);

export const historyPageSchema = apiPage(
  'ReadingHistoryPage',
  historyEventSchema,
  'The history of a reading, oldest event first.',
  historyExample,
);
