import { Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import type { Mode } from '#event-sourcing/core/request-context.js';
import type { WebhookEndpointRecord } from '../contracts/endpoints.js';
import type { EndpointRefusal, UrlRefusal } from '../contracts/refusals.js';
import { refusalTo } from '../domain/webhook-endpoint.decider.js';
import { EndpointRows, healthState, type EndpointRow } from '../read-models/endpoints.js';
import { EndpointStreams } from './endpoint-streams.js';
import { HeaderVault, SecretVault } from './vaults.js';
import { checkWebhookUrl, type UrlPolicy } from '../domain/webhook-url.js';
import type { Config } from '../settings.js';

export interface KnownEndpoint {
  readonly outcome: 'found';
  readonly record: WebhookEndpointRecord;
  readonly revision: bigint;
}

/** The caller of a command, and the modes that it sees. */
export interface EndpointOwner {
  readonly workspaceId: string;
  readonly sees: readonly Mode[];
}

const ENDPOINT_ID = /^we_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const OWN_PROJECTION_MS = 750;
const OWN_PROJECTION_POLL_MS = 15;

@Injectable()
export class EndpointAccess {
  constructor(
    private readonly rows: EndpointRows,
    private readonly streams: EndpointStreams,
    private readonly vault: SecretVault,
    private readonly headers: HeaderVault,
  ) {}

  /** The endpoint from its row, or from its stream when the row is not there yet. */
  async find(endpointId: string, workspaceId: string): Promise<KnownEndpoint | EndpointRefusal> {
    if (!ENDPOINT_ID.test(endpointId)) return { outcome: 'webhook_not_found' };
    const found = (await this.rows.find(endpointId)) ?? (await this.fromStream(endpointId));
    if (!found || found.deleted) return { outcome: 'webhook_not_found' };
    if (found.workspaceId !== workspaceId) return { outcome: 'wrong_workspace' };
    return { outcome: 'found', record: found.record, revision: found.revision };
  }

  /** As `find`, for a command that no stream decides: the caller is judged by the endpoint's stream, as the row may lag. */
  async findFor(
    endpointId: string,
    { workspaceId, sees }: EndpointOwner,
  ): Promise<(KnownEndpoint & { readonly mayChange: boolean }) | EndpointRefusal> {
    const known = await this.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const refusal = refusalTo(sees, await this.streams.load(endpointId));
    return refusal === 'EndpointNotFound'
      ? { outcome: 'webhook_not_found' }
      : { ...known, mayChange: refusal === null };
  }

  /** The endpoint as of a change that was made now: from its row once that has it, or else from its stream after a short wait. */
  async changed(endpointId: string, revision: bigint): Promise<EndpointRow> {
    const givesUpAt = performance.now() + OWN_PROJECTION_MS;
    while (performance.now() < givesUpAt) {
      const row = await this.rows.find(endpointId);
      if (row && row.revision >= revision) return row;
      await delay(OWN_PROJECTION_POLL_MS);
    }
    return (await this.fromStream(endpointId))!;
  }

  private async fromStream(endpointId: string): Promise<EndpointRow | null> {
    const { state, times } = await this.streams.read(endpointId);
    const { existence, workspaceId, revision, verified, headersRef, secrets, disabledReason, ...shown } =
      state;
    if (existence === 'none') return null;
    const { url, events, modes, notices, enabled, description, maxPerSecond } = shown;
    const headerNames = await this.headers.names(headersRef);
    const [consecutiveFailures, failingSince] = [0, null];
    const health = { failingSince, disabledReason, consecutiveFailures };
    return {
      record: {
        ...{ endpointId, url, events, modes, notices, enabled, description, headerNames, maxPerSecond },
        ...times,
        health: { state: healthState(enabled, verified, consecutiveFailures), ...health },
        secretHint: await this.vault.hint(secrets[0]?.ref ?? null),
      },
      workspaceId,
      revision,
      deleted: existence === 'deleted',
    };
  }
}

export const urlPolicy = (config: Config): UrlPolicy => ({
  allowHttp: config.WEBHOOK_ALLOW_HTTP,
  allowCidrs: config.WEBHOOK_ALLOW_CIDRS,
});

/** Why a URL is no webhook URL. Judges its text alone: resolving a name here would tell the caller which names exist inside. */
export const urlRefusal = (text: string, config: Config): UrlRefusal | null => {
  const verdict = checkWebhookUrl(text, urlPolicy(config));
  return verdict.ok ? null : { outcome: verdict.code, detail: verdict.detail };
};
