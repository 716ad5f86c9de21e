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
    /** The clocks of this process, PostgreSQL and the event store agree. */
    clock: z.boolean(),
  }),
});
export type Readiness = z.infer<typeof readiness>;

export const readinessSchema = apiSchema<Readiness>(
  'Readiness',
  readiness,
  'Whether the service can do its work, and which part of it cannot.',
  {
    status: 'ready',
    checks: { eventStore: true, postgres: true, worker: true, consumers: true, clock: true },
  },
);
