import { StoreDamaged, StoreUnavailable } from '@app/event-sourcing/store/errors.js';
import type { LogPart } from './log-part.js';

/** A call of one of the part's methods. They are answered in order. */
export interface ThreadCall {
  readonly method: keyof LogPart;
  readonly argument: unknown;
}

export type ThreadAnswer = { readonly returned: unknown } | { readonly thrown: SentError };

/** An error as plain data: threads do not share classes. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly outcomeUnknown?: boolean;
  /** What faultOf and isDependencyAway look at. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly cause: string;
}

const DETAILS = ['code', 'type', 'syscall'] as const;

export const sentError = (error: unknown): SentError => {
  const given = error instanceof Error ? error : new Error(String(error));
  const members = given as Error & Partial<Record<string, unknown>>;
  return {
    name: given.name,
    message: given.message,
    ...(given instanceof StoreUnavailable && { outcomeUnknown: given.outcomeUnknown }),
    details: Object.fromEntries(
      DETAILS.flatMap((name) => (members[name] === undefined ? [] : [[name, members[name]]])),
    ),
    cause: given.cause instanceof Error ? given.cause.message : '',
  };
};

/** The error that the thread met, of its own class where callers tell it apart. */
export const receivedError = ({ name, message, outcomeUnknown, details, cause }: SentError): Error => {
  if (name === 'StoreUnavailable')
    return new StoreUnavailable(message, outcomeUnknown ?? false, cause ? { cause: new Error(cause) } : {});
  if (name === 'StoreDamaged') return new StoreDamaged(message);
  return Object.assign(new Error(message), details);
};
