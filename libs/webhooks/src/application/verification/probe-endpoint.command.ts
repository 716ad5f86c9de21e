import { Command } from '#platform/cqrs/message.js';
import type { WebhookEndpointRecord } from '../../contracts/endpoint-record.js';
import type { EndpointRefusal } from '../../contracts/refusals.js';

/** Has an endpoint that is not verified probed again, at once or when its receiver has had a minute's rest. */
export class ProbeEndpoint extends Command<
  { readonly outcome: 'asked'; readonly record: WebhookEndpointRecord } | EndpointRefusal
> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
  ) {
    super();
  }
}
