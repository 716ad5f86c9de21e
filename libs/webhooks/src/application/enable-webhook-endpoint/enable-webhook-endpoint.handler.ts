import { CommandBus, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EnableWebhookEndpoint, type EnabledWebhookEndpoint } from '../../contracts/commands.js';
import { ChangeWebhookEndpoint } from '../change-webhook-endpoint/change-webhook-endpoint.command.js';

@CommandHandler(EnableWebhookEndpoint)
export class EnableWebhookEndpointHandler implements ICommandHandler<EnableWebhookEndpoint> {
  constructor(private readonly commands: CommandBus) {}

  async execute({ endpointId, workspaceId, by }: EnableWebhookEndpoint): Promise<EnabledWebhookEndpoint> {
    const { record, skippedDeliveries } = await this.commands.execute(
      new ChangeWebhookEndpoint(endpointId, workspaceId, { enabled: true }, null, by),
    );
    return { record, skippedDeliveries };
  }
}
