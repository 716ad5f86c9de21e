import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { Inject, Injectable } from '@app/platform/injection.js';
import { CONFIG } from '@app/platform/tokens.js';
import type { OperatorRegister } from '../../contracts/operators.js';
import type { Config } from '../../settings.js';
import { loadRegisters } from '../../signed-streams.js';

/** The operators, with each statement of the stream checked again: only root keys and signatures are believed. */
@Injectable()
export class VerifiedRegister {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'OPERATOR_ROOT_KEYS'>,
  ) {}

  async load(): Promise<OperatorRegister> {
    return (await loadRegisters(this.store, this.config.OPERATOR_ROOT_KEYS)).latest;
  }
}
