import { Command } from '@app/platform/cqrs/message.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import type { KnownEndpoint } from '../endpoint-access.js';

export interface RotatedSecret extends KnownEndpoint {
  /** Shown only this once. */
  readonly signingSecret: string;
  /** RFC 3339: the previous secret also signs until then. */
  readonly previousValidUntil: string;
}

/** Gives an endpoint a new secret. Fails with webhook_not_found, wrong_workspace. */
export class RotateSecret extends Command<RotatedSecret> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly overlapSeconds: number,
    readonly by: RequestContext,
  ) {
    super();
  }
}
