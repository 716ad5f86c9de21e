import { Controller, Get, Header, HttpCode, Param, Post, Query, Res, UseInterceptors } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { Response } from 'express';
import { Accepts, Caller, type Principal } from '@app/platform/auth/authentication.js';
import { RequestId } from '@app/platform/http/request-id.js';
import { EndpointAccess } from '../application/endpoint-access.js';
import { Redeliver } from '../application/redeliver/redeliver.js';
import { RotateSecret } from '../application/rotate-secret/rotate-secret.js';
import { SendTestEvent } from '../application/send-test-event/send-test-event.js';
import { DeliveryRows } from '../read-models/delivery/delivery-rows.js';
import { RotateSecretDto, SendTestEventDto } from './dto/webhook-endpoint.dto.js';
import { etagOf } from './if-match.js';
import { OptionalBody } from './optional-body.pipe.js';
import { PageCursors } from './page-cursor.js';
import { RefusalsAsProblems } from './refusals.js';

/** What an endpoint's owner does to run it: rotate the secret, try it out, see what was sent, send again. */
@Controller('api/v1/webhooks/:endpointId')
@Accepts('apiKey', 'bearer')
@UseInterceptors(RefusalsAsProblems)
export class DeliveriesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly access: EndpointAccess,
    private readonly rows: DeliveryRows,
    private readonly cursors: PageCursors,
  ) {}

  @Post('rotate-secret')
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  async rotate(
    @Param('endpointId') endpointId: string,
    @OptionalBody() { overlapSeconds }: RotateSecretDto,
    @Caller() { workspaceId, actor }: Principal,
    @RequestId() correlationId: string,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { record, revision, signingSecret, previousValidUntil } = await this.commands.execute(
      new RotateSecret(endpointId, workspaceId, overlapSeconds, { actor, correlationId }),
    );
    response.set('ETag', etagOf(revision));
    return { ...record, signingSecret, previousValidUntil };
  }

  @Post('test')
  @HttpCode(202)
  test(
    @Param('endpointId') endpointId: string,
    @OptionalBody() { type }: SendTestEventDto,
    @Caller() { workspaceId }: Principal,
  ) {
    return this.commands.execute(new SendTestEvent(endpointId, workspaceId, type));
  }

  @Get('deliveries')
  @Header('Cache-Control', 'no-store')
  async list(
    @Param('endpointId') endpointId: string,
    @Query('limit') limit: string | undefined,
    @Query('cursor') cursor: string | undefined,
    @Caller() { workspaceId }: Principal,
  ) {
    await this.access.require(endpointId, workspaceId);
    const page = this.cursors.read(limit, cursor, 'deliveries', workspaceId, endpointId);
    const records = await this.rows.page(endpointId, page.limit + 1, page.after);
    const endOf = ({ createdAt, deliveryId }: (typeof records)[0]) => [createdAt, deliveryId];
    return this.cursors.page(records, page.limit, endOf, 'deliveries', workspaceId, endpointId);
  }

  @Post('deliveries/:deliveryId/redeliver')
  @HttpCode(202)
  redeliver(
    @Param('endpointId') endpointId: string,
    @Param('deliveryId') deliveryId: string,
    @Caller() { workspaceId }: Principal,
  ) {
    return this.commands.execute(new Redeliver(endpointId, workspaceId, deliveryId));
  }
}
