import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import { EndpointRows } from '../../read-models/endpoint/endpoint-rows.js';
import { decided } from '../decided.js';
import { EndpointAccess } from '../endpoint-access.js';
import { EndpointStreams } from '../endpoint-streams.js';
import { SecretVault } from '../secrets/secret-vault.js';
import { RotateSecret, type RotateSecretResult } from './rotate-secret.command.js';

@CommandHandler(RotateSecret)
export class RotateSecretHandler implements ICommandHandler<RotateSecret> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly vault: SecretVault,
    private readonly streams: EndpointStreams,
    private readonly rows: EndpointRows,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ endpointId, workspaceId, overlapSeconds, by }: RotateSecret): Promise<RotateSecretResult> {
    const known = await this.access.find(endpointId, workspaceId);
    if (known.outcome !== 'found') return known;
    const { record } = known;
    const at = this.clock.now();
    const secret = this.vault.generate(endpointId, by);
    await this.vault.store(secret, { endpointId, workspaceId, at: instant(at) });
    const decision = decided(
      await this.streams.execute(
        endpointId,
        { type: 'RotateSecret', secretRef: secret.ref, at, overlapSeconds },
        { by, workspaceId },
      ),
    );
    if (decision.outcome !== 'decided') return decision;
    const { state, events } = decision;
    const isRepeated = events.length === 0;
    await this.rows.waitFor(endpointId, state.revision);
    return {
      outcome: 'rotated',
      record: {
        ...record,
        updatedAt: events.at(-1)?.metadata.occurredAt ?? record.updatedAt,
        secretHint: secret.hint,
      },
      revision: state.revision,
      signingSecret: secret.secret,
      previousValidUntil:
        (isRepeated && (await this.streams.overlapOf(endpointId, secret.ref))) ||
        instant(at + overlapSeconds * 1_000),
    };
  }
}
