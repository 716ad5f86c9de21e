import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { DeliveryRows } from '../../read-models/delivery/delivery-rows.js';
import { EndpointRows } from '../../read-models/endpoint/endpoint-rows.js';
import type { ChangeRefusal } from '../../contracts/refusals.js';
import { decided } from '../decided.js';
import { EndpointAccess, recordOf } from '../endpoint-access.js';
import { EndpointStreams } from '../endpoint-streams.js';
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
  }: ChangeWebhookEndpoint): Promise<ChangedEndpoint | ChangeRefusal> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const before = known.record;
    if (changes.url !== undefined && changes.url !== before.url) {
      const checked = await this.urls.check(changes.url);
      if (checked.outcome !== 'usable') return checked;
    }
    const skipped = changes.enabled === true ? await this.deliveries.countSkipped(endpointId) : 0;
    const decision = decided(
      await this.streams.execute(
        endpointId,
        { type: 'ChangeEndpoint', changes, ifRevision },
        { by, workspaceId },
      ),
    );
    if (decision.outcome !== 'decided') return decision;
    const { state, events } = decision;
    const enabledAgain = events.some(({ type }) => type === 'WebhookEndpointEnabled');
    const beginsAnew = enabledAgain || state.url !== before.url;
    if (events.length > 0) await this.rows.waitFor(endpointId, state.revision);
    return {
      outcome: 'changed',
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
