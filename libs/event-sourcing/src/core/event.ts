/** A fact in domain language: a PascalCase type in the past tense, and its data. */
export interface DomainEvent<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

/** Recorded with every event. Never personal data: metadata is copied to logs and spans. */
export interface EventMetadata {
  /** Shared by a request and everything it causes. */
  readonly correlationId: string;
  /** Id of the event, command or request that caused this event. */
  readonly causationId: string;
  readonly workspaceId: string;
  /** `apiKey:<id>`, `user:<sub>`, `system:<process>` or `operator:<name>`. */
  readonly actor: string;
  /** When the decision was made: RFC 3339, UTC, with milliseconds. */
  readonly occurredAt: string;
  readonly schemaVersion: number;
  /** W3C trace context of the span that made the decision. */
  readonly traceparent?: string;
  /** Hash chain value, in streams that are chained (see hash-chain.ts). */
  readonly chain?: string;
}

/** An operator's decision that readers pass over an event (`ops parked set-aside`). */
export interface SetAside {
  /** The consumers that pass over it; `null`: every reader does. */
  readonly consumers: readonly string[] | null;
  /** `operator:<name>` */
  readonly by: string;
  readonly reason: string;
  /** RFC 3339. */
  readonly at: string;
}

/** An event as the store returns it: JSON parsed, not yet validated. Revisions and positions are bigint. */
export interface StoredEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
  /**
   * When the store recorded it, by the store's own clock (ms since the epoch). Absent on events that were just decided,
   * and not read from the store. After a copy of the log to another store, it is the time of the copy.
   */
  readonly recordedAt?: number;
  /** Absent for nearly every event. */
  readonly setAside?: SetAside;
}

/** A decoded event with its position in the store. */
export type Recorded<E extends DomainEvent = DomainEvent> = E & Omit<StoredEvent, 'type' | 'data'>;

/** Whether a reader passes over the event. @param consumer the reader, if it is a projection or a process */
export const isSetAside = ({ setAside }: Pick<StoredEvent, 'setAside'>, consumer?: string): boolean =>
  setAside !== undefined &&
  (setAside.consumers === null || (consumer !== undefined && setAside.consumers.includes(consumer)));

/** An event ready to append. */
export interface EventToAppend {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
}
