import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { FindWebhookEndpoint, type FoundEndpoint } from '../../contracts/health.js';
import { EndpointRows } from './endpoint-rows.js';

@QueryHandler(FindWebhookEndpoint)
export class FindWebhookEndpointHandler implements IQueryHandler<FindWebhookEndpoint> {
  constructor(private readonly rows: EndpointRows) {}

  async execute({ endpointId }: FindWebhookEndpoint): Promise<FoundEndpoint | null> {
    const found = await this.rows.find(endpointId);
    return found && !found.deleted ? { endpoint: found.record, workspaceId: found.workspaceId } : null;
  }
}
