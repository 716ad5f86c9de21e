import { z } from 'zod';
import { FAULT_KINDS } from '#platform/fault/fault.js';
import { WORKER_ROLES } from '#platform/config/settings.js';
import { apiSchema } from '#platform/http/openapi/api-schema.js';

const liveness = z.object({
  status: z.enum(['ok', 'stuck']).describe('`stuck`: restart the process'),
});
export type Liveness = z.infer<typeof liveness>;

export const livenessSchema = apiSchema<Liveness>(
  'Liveness',
  liveness,
  'Whether the process works; `stuck` when only a restart can help.',
  { status: 'ok' },
);

/** The faults of a store; `late`: work waits too long; `beyond_the_log`: the two stores do not belong together; `role_missing`: there are workers, and none with a role. */
const CAUSES = [
  ...FAULT_KINDS,
  'late',
  'beyond_the_log',
  'no_worker',
  'role_missing',
  'clock',
  'unknown',
] as const;
export type ReadinessCause = (typeof CAUSES)[number];

const readiness = z.object({
  status: z.enum(['ready', 'not ready']).describe('`ready`: every check holds'),
  checks: z
    .object({
      eventStore: z.boolean().describe('The event store answers'),
      postgres: z.boolean().describe('PostgreSQL answers'),
      tables: z
        .boolean()
        .describe(
          'Every table that requests need exists, and that of API keys has the keys that were issued',
        ),
      worker: z.boolean().describe('Workers of every role have sent a heartbeat recently'),
      consumers: z.boolean().describe('No running consumer has left an event unhandled for too long'),
      disk: z.boolean().describe('The disk keeps its reserve'),
      clock: z.boolean().describe('The clocks of this process, PostgreSQL and the event store agree'),
    })
    .describe('Whether each part can do its work'),
  causes: z
    .record(z.string(), z.enum(CAUSES))
    .describe('Why checks failed, by check; a check that failed only because of another one is not repeated'),
  missingRoles: z
    .array(z.enum(WORKER_ROLES))
    .describe(
      'Roles that no worker has had recently; by READINESS_ROLES, the service may be ready without one',
    ),
  parkedStreams: z
    .int()
    .nullable()
    .describe(
      'Streams that wait because an event cannot be handled; null when unknown; the service stays ready',
    ),
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
    missingRoles: [],
    parkedStreams: 0,
  },
);
