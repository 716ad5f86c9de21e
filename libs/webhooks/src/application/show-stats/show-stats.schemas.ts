import { z } from 'zod';
import { apiSchema, count, instant } from '#platform/http/openapi/api-schema.js';
import type { EndpointStats } from '../../contracts/stats.js';

const figures = {
  attempts: z
    .record(z.string(), count())
    .describe('Attempts by outcome: `succeeded`, or the class of failure'),
  latencyMs: z
    .object({
      p50: count().describe('Half of them took at most so long'),
      p95: count().describe('95 % of them'),
      p99: count().describe('99 % of them'),
    })
    .nullable()
    .describe('How long successful attempts took, in milliseconds; null: none succeeded'),
};
const example = {
  attempts: { succeeded: 41, timeout: 1 },
  latencyMs: { p50: 84, p95: 190, p99: 310 },
};

export const endpointStatsSchema = apiSchema<EndpointStats & { since: string; until: string }>(
  'WebhookEndpointStats',
  z.object({
    since: instant().describe('The beginning of the first hour'),
    until: instant().describe('The end of the time, exclusive'),
    hours: z
      .array(z.object({ hour: instant().describe('Its beginning'), ...figures }))
      .describe('Hours with attempts, oldest first'),
    total: z.object(figures).describe('All hours together'),
  }),
  'The attempts of an endpoint by hour.',
  {
    since: '2026-04-04T09:00:00.000Z',
    until: '2026-04-04T10:00:00.000Z',
    hours: [{ hour: '2026-04-04T09:00:00.000Z', ...example }],
    total: example,
  },
);
