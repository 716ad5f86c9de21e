import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { decodeOrShow, isOpaque } from '#event-sourcing/core/event-catalogue.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { RevokeApiKey, RevokeApiKeyAndIssued } from '../../contracts/commands.js';
import { workspaceEvents } from '../../contracts/events.js';
import { ApiKeyQuery } from '../../read-models/api-key/api-key.query.js';
import { RevokeApiKeyHandler } from '../revoke-api-key/revoke-api-key.handler.js';

@CommandHandler(RevokeApiKeyAndIssued)
export class RevokeApiKeyAndIssuedHandler implements ICommandHandler<RevokeApiKeyAndIssued> {
  constructor(
    private readonly one: RevokeApiKeyHandler,
    private readonly keys: ApiKeyQuery,
    @Inject(EVENT_STORE) private readonly store: EventStore,
  ) {}

  async execute({ keyId, reason, by, ...named }: RevokeApiKeyAndIssued) {
    const workspaceId = named.workspaceId ?? (await this.keys.find(keyId))?.workspaceId;
    if (workspaceId === undefined) return { outcome: 'unknown_key' } as const;
    const revoke = (id: string) => this.one.execute(new RevokeApiKey(id, reason, by, workspaceId));
    // First: a revoked key issues nothing more, so that the stream then names all that it issued.
    const { outcome } = await revoke(keyId);
    if (outcome === 'unknown_key') return { outcome };
    const issued = await this.issuedWith(keyId, workspaceId);
    for (const id of issued) await revoke(id);
    return { outcome, workspaceId, issued };
  }

  /** The issuer of a key is the actor of its event. */
  private async issuedWith(keyId: string, workspaceId: string): Promise<readonly string[]> {
    const actors = new Set([`apiKey:${keyId}`]);
    const issued: string[] = [];
    for await (const stored of this.store.read(streamName(workspaceEvents.category, workspaceId))) {
      const event = decodeOrShow(workspaceEvents, stored);
      if (isOpaque(event) || event.type !== 'ApiKeyIssued' || !actors.has(event.metadata.actor)) continue;
      issued.push(event.data.keyId);
      actors.add(`apiKey:${event.data.keyId}`);
    }
    return issued;
  }
}
