import { z } from 'zod';
import { FAULT_KINDS } from '@app/platform/fault/fault.js';
import { apiSchema } from '@app/platform/http/openapi/api-schema.js';

const liveness = z.object({ status: z.enum(['ok', 'stuck']) });
export type Liveness = z.infer<typeof liveness>;

export const livenessSchema = apiSchema<Liveness>(
  'Liveness',
  liveness,
  'Whether the process works; `stuck` when only a restart can help.',
  { status: 'ok' },
);

/** The faults of a store; `late`: work waits too long; `beyond_the_log`: the two stores do not belong together. */
const CAUSES = [...FAULT_KINDS, 'late', 'beyond_the_log', 'no_worker', 'clock', 'unknown'] as const;
export type ReadinessCause = (typeof CAUSES)[number];

const readiness = z.object({
  status: z.enum(['ready', 'not ready']),
  checks: z.object({
    eventStore: z.boolean(),
    postgres: z.boolean(),
    /** Every table that requests need exists, and that of API keys is not empty although keys were issued. */
    tables: z.boolean(),
    /** A worker has sent a heartbeat recently. */
    worker: z.boolean(),
    /** No running consumer has left an event unhandled for too long. */
    consumers: z.boolean(),
    /** The disk keeps its reserve. */
    disk: z.boolean(),
    /** The clocks of this process, PostgreSQL and the event store agree. */
    clock: z.boolean(),
  }),
  /** Why checks failed, by check. A check that failed only because of another one is not repeated. */
  causes: z.record(z.string(), z.enum(CAUSES)),
  /** Streams that wait because an event cannot be handled; `null` when unknown. They do not make it unready. */
  parkedStreams: z.int().nullable(),
});
export type Readiness = z.infer<typeof readiness>;

export const readinessSchema = apiSchema<Readiness>(
  'Readiness',
  readiness,
  'Whether the service can do its work, and which part of it cannot.',
  {
    status: 'ready',
    checks: {
      eventStore: true,
      postgres: true,
      tables: true,
      worker: true,
      consumers: true,
      disk: true,
      clock: true,
    },
    causes: {},
    parkedStreams: 0,
  },
);
