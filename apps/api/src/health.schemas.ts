import { z } from 'zod';
import { apiSchema } from '@app/platform/http/openapi/api-schema.js';

const liveness = z.object({ status: z.enum(['ok', 'stuck']) });
export type Liveness = z.infer<typeof liveness>;

export const livenessSchema = apiSchema<Liveness>(
  'Liveness',
  liveness,
  'Whether the process works; `stuck` when only a restart can help.',
  { status: 'ok' },
);

const readiness = z.object({
  status: z.enum(['ready', 'not ready']),
  checks: z.object({
    eventStore: z.boolean(),
    postgres: z.boolean(),
    /** A worker has sent a heartbeat recently. */
    worker: z.boolean(),
    /** No running consumer has left an event unhandled for too long. */
    consumers: z.boolean(),
  }),
  /** Streams that wait because an event cannot be handled; `null` when unknown. They do not make it unready. */
  parkedStreams: z.int().nullable(),
});
export type Readiness = z.infer<typeof readiness>;

export const readinessSchema = apiSchema<Readiness>(
  'Readiness',
  readiness,
  'Whether the service can do its work, and which part of it cannot.',
  { status: 'ready', checks: { eventStore: true, postgres: true, worker: true, consumers: true }, parkedStreams: 0 },
);
