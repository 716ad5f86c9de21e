import type pg from 'pg';
import {
  CommandHandler,
  QueryHandler,
  type ICommandHandler,
  type IQueryHandler,
} from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { KeyRing } from '@app/platform/crypto/key-ring.js';
import { countByKey, rewrap, type Rewrapped } from '@app/platform/crypto/rewrapping.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { CountSecretsByKey, RewrapSecrets } from '../../contracts/secrets.js';
import { SECRET_COLUMN } from './secret-vault.js';

@CommandHandler(RewrapSecrets)
export class RewrapSecretsHandler implements ICommandHandler<RewrapSecrets> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    private readonly ring: KeyRing,
  ) {}

  execute({ onProgress }: RewrapSecrets): Promise<Rewrapped> {
    return rewrap(this.pool, this.ring, SECRET_COLUMN, onProgress);
  }
}

@QueryHandler(CountSecretsByKey)
export class CountSecretsByKeyHandler implements IQueryHandler<CountSecretsByKey> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  execute(): Promise<ReadonlyMap<string, number>> {
    return countByKey(this.pool, SECRET_COLUMN);
  }
}
