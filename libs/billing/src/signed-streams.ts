import { decodeOrShow, isOpaque } from '@app/event-sourcing/core/event-catalogue.js';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId, streamName } from '@app/event-sourcing/core/stream-name.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { scopedEventStore } from '@app/event-sourcing/store/scoped-event-store.js';
import { admitCorrection } from './audit/corrections/admit-correction.js';
import { admitOperator } from './audit/corrections/admit-operator.js';
import { statementReader } from './audit/corrections/statement-reader.js';
import { CORRECTION_CATEGORIES } from './contracts/judged-statements.js';
import { correctionDayEvents, correctionEvents } from './contracts/corrections.js';
import { operatorsEvents, type OperatorRegister } from './contracts/operators.js';
import type { CorrectionState } from './domain/correction/correction.state.js';
import { noOperators } from './domain/operators/operators.state.js';

/** The id of the one stream of operators. */
export const REGISTER = 'register';

/** Takes the next event of a stream. @returns why it does not count; `null`: it counts */
type Admit = (stored: StoredEvent) => string | null;

/** Why each event of a stream does not count; `null` for a stream that needs no signatures. */
export type Judge = (stream: string) => Promise<Admit | null>;

/** Streams that are read at the same time share one reading of the operators. */
export const judgeOf = (store: EventStore, rootKeys: readonly string[]): Judge => {
  const registers = sharedRead(() => loadRegisters(store, rootKeys));
  return async (stream) => {
    switch (categoryOf(stream)) {
      case operatorsEvents.category:
        return operatorsOf(rootKeys).admit;
      case correctionEvents.category:
        return correctionOf(streamId(stream), await registers());
      case correctionDayEvents.category:
        return counted;
      default:
        return null;
    }
  };
};

/**
 * The streams of operators and corrections, without what does not count. Anybody with the store's login can append to
 * them. So each event is decided again, and one without a fitting signature is passed over: it neither acts nor blocks.
 * A quarantine changes nothing here: anybody with that login can append one, too, and hide a revocation with it.
 * `ops corrections verify` names both.
 */
export const signedStreams = (store: EventStore, rootKeys: readonly string[]): EventStore => {
  const judge = judgeOf(store, rootKeys);
  return {
    ...scopedEventStore(store, CORRECTION_CATEGORIES),
    async *read(stream, options = {}) {
      const admit = await judge(stream);
      if (!admit || options.direction === 'backwards') {
        yield* store.read(stream, options);
        return;
      }
      const { from = 0n, limit = Infinity } = options;
      let left = limit;
      // What counts follows from everything before it.
      for await (const stored of store.read(stream)) {
        const refusal = admit(stored);
        if (stored.revision < from) continue;
        if (left === 0) return;
        left -= 1;
        yield refusal === null ? counts(stored) : setAside(stored, refusal);
      }
    },
  };
};

const counts = ({ quarantine: _, ...stored }: StoredEvent): StoredEvent => stored;

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
    if (operators.admit(stored) !== null) continue;
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
  const read = statementReader(operatorsEvents);
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
  const read = statementReader(correctionEvents, ({ correctionId }) => correctionId === id);
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
 * Those who ask before a reading has begun share it. One that has begun may lack the newest event, such as a revocation:
 * those who ask then share the next.
 */
const sharedRead = <T>(read: () => Promise<T>): (() => Promise<T>) => {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  const begin = (): Promise<T> => {
    next = null;
    return read();
  };
  return () => {
    if (next) return next;
    const begun = last.then(begin, begin);
    next = begun;
    last = begun;
    return begun;
  };
};
