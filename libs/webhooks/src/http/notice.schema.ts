import { z } from 'zod';
import { apiSchema, count, instant, text, uuid } from '@app/platform/http/openapi/api-schema.js';
import { NOTICE_TYPES } from '../contracts/notice-types.js';
import { noticeOf } from '../domain/delivery/notice.js';
import { API_VERSION } from '../domain/delivery/public-event.js';

const AT = '2026-04-04T09:30:00.000Z';
const WORKSPACE_ID = 'ws_4rT9vXk2LmQ8sYw1ZbN6cD';

const notice = z.object({
  id: text(/^evt_/).describe('The same in every attempt and redelivery; use it to recognise duplicates'),
  type: z.enum(NOTICE_TYPES).describe('What it is about'),
  apiVersion: z.literal(API_VERSION).describe('The version of this body'),
  createdAt: instant().describe('When it happened'),
  workspaceId: z.string().describe('The workspace that asked for it'),
  livemode: z.boolean().describe('False for a batch of test readings'),
  batchId: uuid().describe('The batch'),
  data: z
    .object({
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
      links: z.object({ batch: z.string().describe('Path of the batch') }).describe('Where to look'),
    })
    .describe('The batch at that moment, without personal data'),
});

type NoticeBody = z.infer<typeof notice>;

/** A real body with example ids. */
export const noticeExample = (): NoticeBody => {
  const counts = { items: 3, refused: 1, published: 1, failed: 1, erased: 0, notAccepted: 0 };
  const { body } = noticeOf({
    id: '',
    stream: 'batch-0d9b7c1e-2f64-8a35-9c1d-6e0f4b2a7d18',
    revision: 1n,
    position: 0n,
    type: 'BatchEnded',
    data: { workspaceId: WORKSPACE_ID, livemode: true, ...counts, endedAt: AT },
    metadata: {
      correlationId: '',
      causationId: '',
      workspaceId: WORKSPACE_ID,
      actor: '',
      occurredAt: AT,
      schemaVersion: 1,
    },
  });
  return JSON.parse(body) as NoticeBody;
};

export const noticeSchema = apiSchema(
  'Notice',
  notice,
  'What a workspace is told besides the events of its readings, without personal data.',
  noticeExample(),
);
