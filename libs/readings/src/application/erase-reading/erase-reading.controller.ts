import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { seesMode } from '#platform/auth/livemode.js';
import { Answers, Names } from '#platform/http/openapi/operation.js';
import { Problem } from '#platform/http/problem.js';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { EraseReading } from '../../contracts/commands.js';
import { ReadingQuery } from '../../read-models/reading/reading.query.js';
import { NAMED_READING } from '../../http/reading.schemas.js';

/**
 * Erasure of what a reading knows about a person. An API key needs a scope of its own for it, so that no ordinary
 * integration can destroy data.
 */
@Controller('api/v1/readings/:readingId/personal-data')
@Accepts({ apiKey: 'erasure', bearer: 'readings:write' })
@ApiTags('Readings')
@Names('readingId', 'reading_not_found', NAMED_READING)
export class EraseReadingController {
  constructor(
    private readonly commands: CommandBus,
    private readonly readings: ReadingQuery,
  ) {}

  @Delete()
  @HttpCode(204)
  @ApiOperation({
    operationId: 'erasePersonalData',
    summary: 'Erase the personal data of a reading',
    description:
      'Destroys the key that seals its name, birth date, gender, result and documents. It cannot be undone. An unfinished reading fails, and its credits are released. Repeating it changes nothing.',
  })
  @Answers(204, 'The personal data is erased')
  async erase(@Param('readingId') readingId: string, @Caller() caller: Principal): Promise<void> {
    const found = await this.readings.find(readingId);
    if (!found) throw new Problem('reading_not_found');
    if (found.record.workspaceId !== caller.workspaceId) throw new Problem('wrong_workspace');
    if (!seesMode(caller, found.record.livemode)) throw new Problem('reading_not_found');
    await this.commands.execute(new EraseReading(readingId, caller.workspaceId, ownRequest(caller.actor)));
    await this.readings.untilErased(readingId);
  }
}
