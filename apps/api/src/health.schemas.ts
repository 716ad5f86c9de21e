import { z } from 'zod';
import { apiSchema } from '@app/platform/http/openapi/api-schema.js';

export const livenessSchema = apiSchema(
  'Liveness',
  z.object({ status: z.literal('ok') }),
  'The process lives.',
  { status: 'ok' },
);

const readiness = z.object({
  status: z.enum(['ready', 'not ready']),
  checks: z.object({
    eventStore: z.boolean(),
    postgres: z.boolean(),
    /** One was heard of lately. */
    worker: z.boolean(),
    /** None that runs has left an event unhandled for too long. */
    consumers: z.boolean(),
  }),
});
export type Readiness = z.infer<typeof readiness>;

export const readinessSchema = apiSchema<Readiness>(
  'Readiness',
  readiness,
  'Whether the service can do its work, and which part of it cannot.',
  { status: 'ready', checks: { eventStore: true, postgres: true, worker: true, consumers: true } },
);
