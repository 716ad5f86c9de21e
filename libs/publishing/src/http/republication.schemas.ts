import { z } from 'zod';
import { apiSchema, uuid } from '#platform/http/openapi/api-schema.js';

export interface Republication {
  readonly readingId: string;
  readonly version: number;
  readonly outcome: 'requested' | 'unchanged';
}

export const republicationSchema = apiSchema<Republication>(
  'Republication',
  z.object({
    readingId: uuid().describe('Names the reading in every path and event'),
    version: z.int().min(1).describe('The version that is being made; with `unchanged`, the newest one'),
    outcome: z
      .enum(['requested', 'unchanged'])
      .describe('`unchanged`: the newest version has the current texts, and none is made'),
  }),
  'What becomes of the document of a reading.',
  { readingId: '7d0c2b5e-3c57-4f27-9d1c-0a3f6e2b9c41', version: 2, outcome: 'requested' },
);
