import {
  CorruptEvent,
  decode,
  decodeOrShow,
  isOpaque,
  type EventCatalogue,
  type EventOf,
} from '@app/event-sourcing/core/event-catalogue.js';
import { isSetAside, type Recorded, type StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId, streamName } from '@app/event-sourcing/core/stream-name.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { scopedEventStore } from '@app/event-sourcing/store/scoped-event-store.js';
import { admitCorrection } from './audit/corrections/admit-correction.js';
import { admitOperator } from './audit/corrections/admit-operator.js';
import { correctionDayEvents, correctionEvents } from './contracts/corrections.js';
import { operatorsEvents, type OperatorRegister } from './contracts/operators.js';
import type { CorrectionState } from './domain/correction/correction.state.js';
import { noOperators } from './domain/operators/operators.state.js';
import { statementDigest } from './domain/signed-text.js';
import { isSignedByOperator } from './signatures/signatures.js';

/** The id of the one stream of operators. */
export const REGISTER = 'register';

/** Takes the next event of a stream. @returns why it does not count; `null`: it counts */
type Admit = (stored: StoredEvent) => string | null;

/**
 * The streams of operators and corrections, without what does not count. Anybody with the store's login can append to
 * them. So each event is decided again, and one without a fitting signature is passed over: it neither acts nor blocks.
 * `ops corrections verify` names it.
 */
export const signedStreams = (store: EventStore, rootKeys: readonly string[]): EventStore => {
  const admitting = async (stream: string): Promise<Admit | null> => {
    switch (categoryOf(stream)) {
      case operatorsEvents.category:
        return operatorsOf(rootKeys).admit;
      case correctionEvents.category:
        return correctionOf(streamId(stream), await loadRegisters(store, rootKeys));
      case correctionDayEvents.category:
        return counted;
      default:
        return null;
    }
  };
  return {
    ...scopedEventStore(store, [
      operatorsEvents.category,
      correctionEvents.category,
      correctionDayEvents.category,
    ]),
    async *read(stream, options = {}) {
      const admit = await admitting(stream);
      if (!admit || options.direction === 'backwards') {
        yield* store.read(stream, options);
        return;
      }
      const { from = 0n, limit = Infinity } = options;
      let left = limit;
      // What counts follows from everything before it.
      for await (const stored of store.read(stream)) {
        const refusal = isSetAside(stored) ? null : admit(stored);
        if (stored.revision < from) continue;
        if (left === 0) return;
        left -= 1;
        yield refusal === null ? stored : setAside(stored, refusal);
      }
    },
  };
};

const setAside = (stored: StoredEvent, reason: string): StoredEvent => {
  const { occurredAt } = stored.metadata;
  const quarantine = { consumers: null, by: 'system:signatures', reason, at: occurredAt, until: null };
  return { ...stored, quarantine };
};

/** The register as it was at each change. */
export interface Registers {
  readonly latest: OperatorRegister;
  /** As it was when the store recorded an event. */
  readonly at: (event: StoredEvent) => OperatorRegister;
}

/** Reads the operators. Only root keys and signatures are believed. @throws CorruptEvent */
export const loadRegisters = async (store: EventStore, rootKeys: readonly string[]): Promise<Registers> => {
  const operators = operatorsOf(rootKeys);
  const changes: { readonly by: StoredEvent; readonly register: OperatorRegister }[] = [];
  for await (const stored of store.read(streamName(operatorsEvents.category, REGISTER))) {
    if (isSetAside(stored) || operators.admit(stored) !== null) continue;
    changes.push({ by: stored, register: operators.register() });
  }
  return {
    latest: operators.register(),
    at: (event) => changes.findLast(({ by }) => isBefore(by, event))?.register ?? noOperators,
  };
};

/** In the order of the log. Servers that give no positions with a stream give the time of the record. */
export const isBefore = (one: StoredEvent, other: StoredEvent): boolean =>
  hasPosition(one) && hasPosition(other)
    ? one.position < other.position
    : (one.recordedAt ?? 0) <= (other.recordedAt ?? 0);

const NO_POSITION = 2n ** 63n;
const hasPosition = ({ position }: StoredEvent): boolean => position > 0n && position < NO_POSITION;

const operatorsOf = (rootKeys: readonly string[]) => {
  let register = noOperators;
  const read = readerOf(operatorsEvents, () => true);
  const admit = (stored: StoredEvent): string | null => {
    const change = read(stored, register);
    if (typeof change === 'string') return change;
    const admitted = admitOperator(register, change, rootKeys);
    ({ register } = admitted);
    return admitted.refusal;
  };
  return { admit, register: () => register };
};

const correctionOf = (id: string, registers: Registers): Admit => {
  let state: CorrectionState | null = null;
  const read = readerOf(correctionEvents, ({ correctionId }) => correctionId === id);
  return (stored) => {
    const register = registers.at(stored);
    const event = read(stored, register);
    if (typeof event === 'string') return event;
    const admitted = admitCorrection(id, state, event, register, stored.metadata.occurredAt);
    ({ state } = admitted);
    return admitted.refusal;
  };
};

/** Counts are not signed: the corrections that they name are. */
const counted: Admit = (stored) => {
  const count = decodeOrShow(correctionDayEvents, stored);
  return isOpaque(count) ? count.problem : null;
};

/**
 * Decodes an event, or says why it does not count. An event that this program cannot read stops it if an operator signed
 * it: a newer program wrote it, and it may be a revocation. A copy of an earlier statement, and everything else, does not.
 */
const readerOf = <C extends EventCatalogue>(catalogue: C, belongs: (data: Data) => boolean) => {
  const seen = new Set<string>();
  return (stored: StoredEvent, register: OperatorRegister): Recorded<EventOf<C>> | string => {
    const { type, data } = stored;
    const isSigned = isSignedByOperator({ type, data }, register);
    const digest = isSigned ? statementDigest({ type, data: data as Data }) : null;
    try {
      const event = decode(catalogue, stored);
      if (digest !== null) seen.add(digest);
      return event;
    } catch (error) {
      if (!(error instanceof CorruptEvent)) throw error;
      if (digest !== null && !seen.has(digest) && belongs(data as Data)) throw error;
      return error.reason;
    }
  };
};

type Data = Readonly<Record<string, unknown>>;
