import { Inject } from '@nestjs/common';
import { CommandHandler, QueryHandler, type ICommandHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { countByKey, rewrap, type Rewrapped } from '#platform/crypto/rewrapping.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CountSecretsByKey, RewrapSecrets } from '../../contracts/secrets.js';
import { HEADERS_COLUMN } from '../custom-headers/header-vault.js';
import { SECRET_COLUMN } from './secret-vault.js';

@CommandHandler(RewrapSecrets)
export class RewrapSecretsHandler implements ICommandHandler<RewrapSecrets> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    private readonly ring: KeyRing,
  ) {}

  async execute({ onProgress }: RewrapSecrets): Promise<Rewrapped> {
    const secrets = await rewrap(this.pool, this.ring, SECRET_COLUMN, onProgress);
    const headers = await rewrap(this.pool, this.ring, HEADERS_COLUMN, onProgress);
    return {
      rewrapped: secrets.rewrapped + headers.rewrapped,
      unopened: [...secrets.unopened, ...headers.unopened],
      left: new Set([...secrets.left, ...headers.left]),
    };
  }
}

@QueryHandler(CountSecretsByKey)
export class CountSecretsByKeyHandler implements IQueryHandler<CountSecretsByKey> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map(await countByKey(this.pool, SECRET_COLUMN));
    for (const [key, count] of await countByKey(this.pool, HEADERS_COLUMN))
      counts.set(key, (counts.get(key) ?? 0) + count);
    return counts;
  }
}
