import { Controller, Delete, HttpCode, Param } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Accepts, Caller, type Principal } from '#platform/auth/authentication.js';
import { Answers, Names } from '#platform/http/openapi/operation.js';
import { Problem } from '#platform/http/problem.js';
import { isUuid } from '#platform/text/uuid.js';
import { EndPortalSession } from '../../contracts/portal.js';
import { NAMED_SESSION } from '../../http/portal-session.schemas.js';

/** Ends sessions of the portal before their time. */
@Controller('api/v1/portal/sessions')
@Accepts({ apiKey: 'portal:write' })
@ApiTags('Portal')
export class EndPortalSessionController {
  constructor(private readonly commands: CommandBus) {}

  @Delete(':sessionId')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'endPortalSession',
    summary: 'End a session of the workspace portal',
    description:
      'Its next request is refused, and its link if it has not begun. Ending it again changes nothing.',
  })
  @Names('sessionId', 'not_found', NAMED_SESSION)
  @Answers(204, 'The session has ended')
  async end(
    @Param('sessionId') sessionId: string,
    @Caller() { workspaceId, sees }: Principal,
  ): Promise<void> {
    const outcome = isUuid(sessionId)
      ? await this.commands.execute(new EndPortalSession(workspaceId, sees, sessionId))
      : 'unknown';
    if (outcome === 'foreign') throw new Problem('wrong_workspace');
    if (outcome === 'unknown') throw new Problem('not_found', { detail: 'There is no such session' });
  }
}
