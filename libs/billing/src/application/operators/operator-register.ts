import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import { isSetAside } from '@app/event-sourcing/core/event.js';
import { streamName } from '@app/event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { Inject, Injectable } from '@app/platform/injection.js';
import { CONFIG } from '@app/platform/tokens.js';
import { admitOperator } from '../../audit/corrections/admit-operator.js';
import { operatorsEvents, type OperatorRegister } from '../../contracts/operators.js';
import { REGISTER } from '../../correction.executors.js';
import { noOperators } from '../../domain/operators/operators.state.js';
import type { Config } from '../../settings.js';

/** The operators, with each statement of the stream checked again: only root keys and signatures are believed. */
@Injectable()
export class VerifiedRegister {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'OPERATOR_ROOT_KEYS'>,
  ) {}

  async load(): Promise<OperatorRegister> {
    let register = noOperators;
    for await (const stored of this.store.read(streamName(operatorsEvents.category, REGISTER))) {
      if (isSetAside(stored)) continue;
      const change = decode(operatorsEvents, stored);
      ({ register } = admitOperator(register, change, this.config.OPERATOR_ROOT_KEYS));
    }
    return register;
  }
}
