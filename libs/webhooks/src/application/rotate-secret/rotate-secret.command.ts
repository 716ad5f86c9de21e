import { Command } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { WebhookEndpointRecord } from '../../contracts/endpoint-record.js';
import type { RefusedByEndpoint } from '../../contracts/refusals.js';

export interface RotatedSecret {
  readonly outcome: 'rotated';
  readonly record: WebhookEndpointRecord;
  readonly revision: bigint;
  /** Shown only this once. */
  readonly signingSecret: string;
  /** RFC 3339: the previous secret signs too until then. */
  readonly previousValidUntil: string;
}

export type RotateSecretResult = RotatedSecret | RefusedByEndpoint;

/** Gives an endpoint a new secret. */
export class RotateSecret extends Command<RotateSecretResult> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly overlapSeconds: number,
    readonly by: RequestContext,
  ) {
    super();
  }
}
