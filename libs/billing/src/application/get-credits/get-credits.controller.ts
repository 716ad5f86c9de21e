import { Controller, Get } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';
import { BOOK_UNREADABLE } from '#readings/contracts/index.js';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Refuses } from '#platform/http/openapi/operation.js';
import { Problem } from '#platform/http/problem.js';
import { GetCredits, type CreditsSummary } from '../../contracts/queries.js';
import { creditsSchema } from './credits.schemas.js';

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
