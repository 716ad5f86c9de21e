import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { seesMode } from '#platform/auth/livemode.js';
import { Answers, Names } from '#platform/http/openapi/operation.js';
import { Problem } from '#platform/http/problem.js';
import { NAMED_BATCH, batchSchema } from '../../http/batch.schemas.js';
import { BatchQuery } from '../../read-models/batch/batch.query.js';

/** Shows batches to their workspace. */
@Controller('api/v1/batches')
@Accepts({ apiKey: 'readings:read' })
@ApiTags('Readings')
export class ShowBatchController {
  constructor(private readonly batches: BatchQuery) {}

  @Get(':batchId')
  @ApiOperation({
    operationId: 'getBatch',
    summary: 'Get the states of the readings of a batch',
    description:
      'Counts its readings by state. `endedAt` is set once each has ended. A reading ends when it is published, failed or erased.',
  })
  @Names('batchId', 'batch_not_found', NAMED_BATCH)
  @Answers(200, 'The batch', batchSchema)
  async get(@Param('batchId') batchId: string, @Caller() caller: Principal) {
    const found = await this.batches.find(batchId);
    if (!found) throw new Problem('batch_not_found');
    const { workspaceId, livemode, mode, items, refused, endedAt } = found.batch;
    if (workspaceId !== caller.workspaceId) throw new Problem('wrong_workspace');
    if (!seesMode(caller, livemode)) throw new Problem('batch_not_found');
    return {
      batchId,
      livemode,
      mode,
      items,
      accepted: items - refused.length,
      refused: refused.length,
      states: found.readings,
      endedAt,
    };
  }
}
