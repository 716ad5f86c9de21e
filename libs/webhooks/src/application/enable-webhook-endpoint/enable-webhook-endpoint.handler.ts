import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EnableWebhookEndpoint, type EnabledWebhookEndpoint } from '../../contracts/commands.js';
import type { ChangeRefusal } from '../../contracts/refusals.js';
import { ChangeWebhookEndpoint } from '../change-webhook-endpoint/change-webhook-endpoint.command.js';

@CommandHandler(EnableWebhookEndpoint)
export class EnableWebhookEndpointHandler implements ICommandHandler<EnableWebhookEndpoint> {
  constructor(private readonly commands: CommandBus) {}

  async execute({
    endpointId,
    workspaceId,
    by,
  }: EnableWebhookEndpoint): Promise<EnabledWebhookEndpoint | ChangeRefusal> {
    const changed = await this.commands.execute(
      new ChangeWebhookEndpoint(endpointId, workspaceId, { enabled: true }, null, by),
    );
    if (changed.outcome !== 'changed') return changed;
    const { record, skippedDeliveries } = changed;
    return { outcome: 'enabled', record, skippedDeliveries };
  }
}
