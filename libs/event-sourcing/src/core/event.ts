/** A fact in the language of the domain: a PascalCase past-tense type and its data. */
export interface DomainEvent<Type extends string = string, Data = unknown> {
  readonly type: Type;
  readonly data: Data;
}

/** What is recorded beside every event. Never personal data: metadata is copied to logs and spans. */
export interface EventMetadata {
  /** One request and all it causes share it. */
  readonly correlationId: string;
  /** Id of the event, command or request that caused this event. */
  readonly causationId: string;
  readonly workspaceId: string;
  /** `apiKey:<id>`, `user:<sub>`, `system:<process>` or `operator:<name>`. */
  readonly actor: string;
  /** RFC 3339 UTC with milliseconds: when the decision was taken. */
  readonly occurredAt: string;
  readonly schemaVersion: number;
  /** W3C trace context of the deciding span. */
  readonly traceparent?: string;
  /** Hash chain value, in streams that are chained (see hash-chain.ts). */
  readonly chain?: string;
}

/** An event as the store returned it: JSON-decoded, not yet validated. Revisions and positions are bigint. */
export interface StoredEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
}

/** A decoded event with its place in the store. */
export type Recorded<E extends DomainEvent = DomainEvent> = E & Omit<StoredEvent, 'type' | 'data'>;

/** An event on its way to the store. */
export interface EventToAppend {
  readonly id: string;
  readonly type: string;
  readonly data: unknown;
  readonly metadata: EventMetadata;
}
