import type { LedgerVerification } from '#billing/contracts/index.js';
import type { ConsumerLag } from '#event-sourcing/projections/consumer-lag.js';
import { isDependencyAway } from '#event-sourcing/store/dependency-away.js';
import { withDeadline } from '#event-sourcing/timing/deadline.js';
import { faultOf } from '#platform/fault/fault.js';
import type { Visited } from '../../../portal/src/frame/context.js';
import type { Form } from '../../../portal/src/frame/form.js';
import type { Failed, View } from '../../../portal/src/frame/page.js';
import type { Finding } from '../commands/doctor/finding.js';
import type { Session } from '../session.js';
import type { Run } from './run.js';
import type { Words } from './texts/texts.js';

/** The console's navigation. */
export type ConsoleArea = keyof Words['areas'];

/** What pages ask for, of the one operator of this process. */
export interface Looks {
  /** How far each consumer is behind, read every few seconds at most. */
  readonly lags: () => Promise<readonly ConsumerLag[]>;
  /** What the quick checks of the doctor find, run every few seconds at most. */
  readonly troubles: () => Promise<readonly Finding[]>;
  readonly doctor: Run<readonly Finding[]>;
  readonly verification: Run<LedgerVerification>;
  /** Does the work of a form once, however often the form is sent. */
  readonly once: <T>(key: string, work: () => Promise<T>) => Promise<T>;
}

/** A request of the operator. */
export interface ConsoleVisit extends Visited {
  readonly session: Session;
  readonly words: Words;
  readonly looks: Looks;
}

/** What an action did: the next page says it. */
export type Done = keyof Words['done'] | null;

export interface ConsolePage {
  readonly area: ConsoleArea;
  readonly show: (visit: ConsoleVisit, failed?: Failed) => Promise<View>;
  /** By the name that a `<PostForm>` sends. @throws ApiProblem when the form is refused */
  readonly actions?: Readonly<Record<string, (visit: ConsoleVisit, form: Form) => Promise<Done>>>;
}

/** A part of a page, or why it cannot be shown now. */
export type Part<T> = { readonly value: T } | { readonly away: string };

/** The longest wait for a part of a page (ms). */
const PART_WITHIN_MS = 5_000;

class TooLate extends Error {}

/** Reads a part of a page. While a store is away, the rest of the page still shows. */
export const part = async <T>({ words }: ConsoleVisit, read: () => Promise<T>): Promise<Part<T>> => {
  const late = (): never => {
    throw new TooLate(words.late(String(PART_WITHIN_MS / 1_000)));
  };
  try {
    return { value: await withDeadline(PART_WITHIN_MS, read, late) };
  } catch (error) {
    const fault = faultOf(error);
    if (fault) return { away: `${fault.message}. ${fault.advice}` };
    if (error instanceof TooLate || isDependencyAway(error)) return { away: (error as Error).message };
    throw error;
  }
};

/** Reads at most once in this time, whatever asks (ms). */
const REMEMBERED_MS = 5_000;

/** The same answer for a while: pages look again by themselves, and several may be open. */
export const remembered = <T>(read: () => Promise<T>): (() => Promise<T>) => {
  let last: { readonly at: number; readonly answer: Promise<T> } | undefined;
  return () => {
    if (!last || performance.now() - last.at > REMEMBERED_MS)
      last = { at: performance.now(), answer: read() };
    return last.answer;
  };
};
