import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EndpointRows } from '../../read-models/endpoint/endpoint-rows.js';
import { decided } from '../decided.js';
import { EndpointAccess } from '../endpoint-access.js';
import { EndpointStreams } from '../endpoint-streams.js';
import { DeleteWebhookEndpoint, type DeleteEndpointResult } from './delete-webhook-endpoint.command.js';

@CommandHandler(DeleteWebhookEndpoint)
export class DeleteWebhookEndpointHandler implements ICommandHandler<DeleteWebhookEndpoint> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly streams: EndpointStreams,
    private readonly rows: EndpointRows,
  ) {}

  async execute({
    endpointId,
    workspaceId,
    ifRevision,
    by,
  }: DeleteWebhookEndpoint): Promise<DeleteEndpointResult> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const decision = decided(
      await this.streams.execute(endpointId, { type: 'DeleteEndpoint', ifRevision }, { by, workspaceId }),
    );
    if (decision.outcome !== 'decided') return decision;
    await this.rows.waitFor(endpointId, decision.state.revision);
    return { outcome: 'deleted' };
  }
}
