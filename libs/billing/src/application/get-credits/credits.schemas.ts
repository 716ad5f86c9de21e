import { z } from 'zod';
import { apiSchema, count, instant } from '#platform/http/openapi/api-schema.js';
import type { CreditsSummary } from '../../contracts/queries.js';

export const creditsSchema = apiSchema<CreditsSummary>(
  'Credits',
  z.object({
    available: z
      .int()
      .describe('Credits that can be reserved; negative after a correction that took more than were left'),
    reserved: count().describe('Credits held for unfinished readings'),
    grants: z
      .array(
        z.object({
          grantId: z.string().describe('Names the grant in statements'),
          kind: z
            .enum(['plan', 'pack', 'adjustment', 'test'])
            .describe(
              'A month of the plan, a pack that was bought, a correction, or (with a test key) the test credits of a day',
            ),
          credits: count().describe('Credits granted'),
          remaining: count().describe('Credits not yet spent or held'),
          expiresAt: instant().nullable().describe('null: it does not expire'),
        }),
      )
      .describe('Grants with credits left, in the order of spending'),
  }),
  'The current credits of the workspace.',
  {
    available: 430,
    reserved: 20,
    grants: [
      {
        grantId: 'plan:sub1:2026-04',
        kind: 'plan',
        credits: 400,
        remaining: 380,
        expiresAt: '2026-05-10T00:00:00.000Z',
      },
      { grantId: 'pack:INV-2026-0042:flex', kind: 'pack', credits: 50, remaining: 50, expiresAt: null },
    ],
  },
);
