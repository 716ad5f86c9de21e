import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EndpointRows } from '../../read-models/endpoint/endpoint-rows.js';
import { EndpointAccess } from '../endpoint-access.js';
import { EndpointStreams } from '../endpoint-streams.js';
import { requireAccepted } from '../require-accepted.js';
import { DeleteWebhookEndpoint } from './delete-webhook-endpoint.command.js';

@CommandHandler(DeleteWebhookEndpoint)
export class DeleteWebhookEndpointHandler implements ICommandHandler<DeleteWebhookEndpoint> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly streams: EndpointStreams,
    private readonly rows: EndpointRows,
  ) {}

  async execute({ endpointId, workspaceId, ifRevision, by }: DeleteWebhookEndpoint): Promise<void> {
    await this.access.require(endpointId, workspaceId);
    const { state } = requireAccepted(
      await this.streams.execute(endpointId, { type: 'DeleteEndpoint', ifRevision }, { by, workspaceId }),
    );
    await this.rows.waitFor(endpointId, state.revision);
  }
}
