/**
 * Test resources run the same path as live ones, on a credit book of their own. The two never mix: nothing of one mode
 * is visible to a caller of the other, or changes it.
 */
export const MODES = ['live', 'test'] as const;
export type Mode = (typeof MODES)[number];

/** The caller of a request, and its cause. Every command carries one, and each of its events records it. */
export interface RequestContext {
  /** `apiKey:<id>`, `user:<sub>`, `system:<module>.<process>` or `operator:<name>`. Never a person's name or address. */
  readonly actor: string;
  /**
   * What the caller's key or token makes. Absent for operators and for the service itself: the resource that they act on
   * has a mode. It is not part of an event's metadata.
   */
  readonly mode?: Mode;
  /**
   * Unguessable bytes that a repeat of the request has too: what it takes at random derives from them. Absent without an
   * Idempotency-Key. It is not part of an event's metadata.
   */
  readonly seed?: Uint8Array | undefined;
  /** One request and all it causes share it. */
  readonly correlationId: string;
  /** Id of the event, the request or the batch that this one follows from. */
  readonly causationId: string;
}

/** What happened before: the ids of an event, or of the job that it made. */
export type Cause = Pick<RequestContext, 'correlationId' | 'causationId'>;

/** A caller's or an operator's own request: it is its own cause. */
export const requestedBy = (actor: string, requestId: string, mode?: Mode): RequestContext => ({
  actor,
  ...(mode && { mode }),
  correlationId: requestId,
  causationId: requestId,
});

/** What the service asks of itself because of something. @param process `<module>.<process>` */
export const causedBy = ({ correlationId, causationId }: Cause, process: string): RequestContext => ({
  actor: `system:${process}`,
  correlationId,
  causationId,
});

/** An event as the cause of what follows from it. */
export const causeOf = (event: {
  readonly id: string;
  readonly metadata: { readonly correlationId: string };
}): Cause => ({ correlationId: event.metadata.correlationId, causationId: event.id });
