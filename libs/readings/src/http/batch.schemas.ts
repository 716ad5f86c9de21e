import { z } from 'zod';
import { apiSchema, count, instant, uuid } from '#platform/http/openapi/api-schema.js';
import { BATCH_MODES } from '../contracts/events.js';

const EXAMPLE_BATCH = '0d9b7c1e-2f64-8a35-9c1d-6e0f4b2a7d18';

const batchId = () => uuid().describe('Names the batch in `/api/v1/batches/{batchId}`');

const itemSchema = z.object({
  index: count().describe('Its place in the request, from 0'),
  line: z.int().min(1).optional().describe('Only for NDJSON: its line, from 1'),
  status: z.enum(['accepted', 'refused']).describe('What became of this reading'),
  readingId: uuid().optional().describe('Only for an accepted reading'),
  problem: z
    .object({
      type: z.string().describe('`urn:problem:` and the code'),
      code: z.string().describe('The cause, from the list of all problems'),
      title: z.string().describe('The cause in words'),
      status: z.int().describe('The status that the reading would have got alone'),
      detail: z.string().optional().describe('What is wrong in this case'),
      errors: z
        .array(
          z.object({
            pointer: z.string().describe('JSON pointer into the reading'),
            code: z.string().describe('What is wrong with the field'),
            detail: z.string().describe('The same in words'),
          }),
        )
        .readonly()
        .optional()
        .describe('The faulty fields'),
      errorsOmitted: z.int().optional().describe('How many more were found than `errors` has room for'),
    })
    .optional()
    .describe('Only for a refused reading'),
});

const batchAnswer = z.object({
  batchId: batchId()
    .nullable()
    .describe('Names the batch in `/api/v1/batches/{batchId}`; null when no reading was accepted'),
  accepted: count().describe('Readings that were accepted'),
  refused: count().describe('Readings that were refused; nothing of them is stored'),
  items: z.array(itemSchema).readonly().describe('Each reading in the order of the request'),
});

export type BatchItemView = z.infer<typeof itemSchema>;
export type BatchAnswer = z.infer<typeof batchAnswer>;

export const batchAnswerSchema = apiSchema(
  'BatchAnswer',
  batchAnswer,
  'The outcome of a bulk request, reading by reading.',
  {
    batchId: EXAMPLE_BATCH,
    accepted: 1,
    refused: 1,
    items: [
      { index: 0, status: 'accepted', readingId: '7d0c2b5e-3c57-8f27-9d1c-0a3f6e2b9c41' },
      {
        index: 1,
        status: 'refused',
        problem: {
          type: 'urn:problem:validation_failed',
          code: 'validation_failed',
          title: 'Request is invalid',
          status: 400,
          detail: '1 field is invalid',
          errors: [
            { pointer: '/dateOfBirth', code: 'invalid_date', detail: 'must be a calendar date YYYY-MM-DD' },
          ],
        },
      },
    ],
  },
);

export const batchSchema = apiSchema(
  'Batch',
  z.object({
    batchId: batchId(),
    livemode: z.boolean().describe('False for a batch of test readings'),
    mode: z.enum(BATCH_MODES).describe('What the request asked for'),
    items: count().describe('Readings in the request'),
    accepted: count().describe('Readings that were accepted'),
    refused: count().describe('Readings that were refused'),
    states: z
      .object({
        queued: count().describe('Readings in state `queued`'),
        processing: count().describe('Readings in state `processing`'),
        completed: count().describe('Readings in state `completed`'),
        failed: count().describe('Readings in state `failed`'),
      })
      .describe('The accepted readings by state'),
    endedAt: instant()
      .nullable()
      .describe(
        'When each accepted reading had ended: published, failed or erased. The notice `batch.ended` follows. null before',
      ),
  }),
  'A batch and the states of its readings.',
  {
    batchId: EXAMPLE_BATCH,
    livemode: true,
    mode: 'available',
    items: 2,
    accepted: 1,
    refused: 1,
    states: { queued: 0, processing: 0, completed: 1, failed: 0 },
    endedAt: '2026-04-04T09:30:00.000Z',
  },
);

export const NAMED_BATCH = {
  description: 'The `batchId` from the response to its creation',
  example: EXAMPLE_BATCH,
};
