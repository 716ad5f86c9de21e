import { z } from 'zod';
import { apiSchema } from '@app/platform/http/openapi/api-schema.js';

export const livenessSchema = apiSchema(
  'Liveness',
  z.object({ status: z.literal('ok') }),
  'The process lives.',
  { status: 'ok' },
);

export const readinessSchema = apiSchema(
  'Readiness',
  z.object({
    status: z.enum(['ready', 'not ready']),
    checks: z.object({ eventStore: z.boolean(), postgres: z.boolean(), worker: z.boolean() }),
  }),
  'Whether the service can do its work, and which part of it cannot.',
  { status: 'ready', checks: { eventStore: true, postgres: true, worker: true } },
);
