import { Controller, Get } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';
import { BOOK_UNREADABLE } from '#readings/contracts/index.js';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { Problem } from '#platform/http/problem.js';
import { z } from 'zod';
import { apiSchema, count, instant } from '#platform/http/openapi/api-schema.js';
import { GetCredits, type CreditsSummary } from '../contracts/messages.js';

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

/** Nobody spends from a book with an entry that cannot be read, and nobody is told a balance of it. */
const unreadableBook = (error: unknown): never => {
  if (!(error instanceof CorruptEvent)) throw error;
  throw new Problem('billing_misconfigured', {
    detail: BOOK_UNREADABLE,
    headers: { 'Retry-After': '60' },
    cause: error,
  });
};

@Controller('api/v1/credits')
@ApiTags('Credits')
export class GetCreditsController {
  constructor(private readonly queries: QueryBus) {}

  @Get()
  @Accepts({ apiKey: 'credits:read', bearer: 'credits:read' })
  @ApiOperation({
    operationId: 'getCredits',
    summary: 'Get the credits of the workspace',
    description:
      'Returns the available and the reserved credits, and the grants they come from. With a test key: the test credits, 10,000 again on each UTC day.',
  })
  @Answers(200, 'The credits', creditsSchema)
  @Refuses('billing_misconfigured')
  async get(@Caller() { workspaceId, mode }: Principal): Promise<CreditsSummary> {
    const credits = await this.queries
      .execute(new GetCredits(workspaceId, mode === 'live'))
      .catch(unreadableBook);
    if (!credits) throw new Problem('billing_misconfigured', { headers: { 'Retry-After': '60' } });
    return credits;
  }
}
