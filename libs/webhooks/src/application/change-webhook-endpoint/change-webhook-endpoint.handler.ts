import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { DeliveryRows } from '../../read-models/delivery/delivery-rows.js';
import { EndpointRows } from '../../read-models/endpoint/endpoint-rows.js';
import { EndpointAccess, recordOf } from '../endpoint-access.js';
import { EndpointStreams } from '../endpoint-streams.js';
import { requireAccepted } from '../require-accepted.js';
import { UrlCheck } from '../url-check.js';
import { ChangeWebhookEndpoint, type ChangedEndpoint } from './change-webhook-endpoint.command.js';

@CommandHandler(ChangeWebhookEndpoint)
export class ChangeWebhookEndpointHandler implements ICommandHandler<ChangeWebhookEndpoint> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly urls: UrlCheck,
    private readonly streams: EndpointStreams,
    private readonly rows: EndpointRows,
    private readonly deliveries: DeliveryRows,
  ) {}

  async execute({
    endpointId,
    workspaceId,
    changes,
    ifRevision,
    by,
  }: ChangeWebhookEndpoint): Promise<ChangedEndpoint> {
    const { record: before } = await this.access.require(endpointId, workspaceId);
    if (changes.url !== undefined && changes.url !== before.url) await this.urls.require(changes.url);
    const skipped = changes.enabled === true ? await this.deliveries.countSkipped(endpointId) : 0;
    const outcome = requireAccepted(
      await this.streams.execute(
        endpointId,
        { type: 'ChangeEndpoint', changes, ifRevision },
        { by, workspaceId },
      ),
    );
    const { state, events } = outcome;
    const enabledAgain = events.some(({ type }) => type === 'WebhookEndpointEnabled');
    const beginsAnew = enabledAgain || state.url !== before.url;
    if (events.length > 0) await this.rows.waitFor(endpointId, state.revision);
    return {
      record: recordOf(endpointId, state, {
        createdAt: before.createdAt,
        updatedAt: events.at(-1)?.metadata.occurredAt ?? before.updatedAt,
        secretHint: before.secretHint,
        consecutiveFailures: beginsAnew ? 0 : before.health.consecutiveFailures,
        failingSince: beginsAnew ? null : before.health.failingSince,
      }),
      revision: state.revision,
      skippedDeliveries: enabledAgain ? skipped : null,
    };
  }
}
