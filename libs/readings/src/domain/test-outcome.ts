import { FAILURE_CODES, type FailureCode } from '../contracts/events.js';

/** The key in `metadata` by which a test reading asks for its outcome. */
export const TEST_OUTCOME = 'test_outcome';

/** Refusals that a request can ask for: it is answered at once, and nothing is stored. */
const REFUSALS = ['insufficient_credits', 'rate_limited', 'unavailable', 'billing_misconfigured'] as const;
export type AskedRefusal = (typeof REFUSALS)[number];

/** How long after acceptance an asked delay is announced (ms). */
const DELAYED_AFTER_MS = 5_000;
const LONGEST_SECONDS = 60;
/** Attempts at a delivery that can be asked to fail before one succeeds. */
const MOST_REFUSED_ATTEMPTS = 5;

/** What a test reading is to go through. Durations are milliseconds. */
type TestOutcome =
  | { readonly kind: 'failed'; readonly code: FailureCode }
  /** Its first attempt waits until so long after acceptance; then the delay is announced, if it is to be. */
  | { readonly kind: 'waiting'; readonly forMs: number; readonly announced: boolean }
  /** Its documents are published no earlier than so long after its completion. */
  | { readonly kind: 'publication_late'; readonly byMs: number }
  /** The first attempts at each of its webhooks are refused; `null`: all of them. */
  | { readonly kind: 'webhook_refused'; readonly attempts: number | null }
  | { readonly kind: 'refused'; readonly refusal: AskedRefusal };

/** For the detail of a refused value. */
export const TEST_OUTCOMES_ALLOWED = [
  ...FAILURE_CODES.map((code) => `failed:${code}`),
  'delayed',
  `slow:<seconds, 1 to ${LONGEST_SECONDS}>`,
  `publication_late:<seconds, 1 to ${LONGEST_SECONDS}>`,
  'webhook_refused',
  `webhook_refused:<attempts, 1 to ${MOST_REFUSED_ATTEMPTS}>`,
  ...REFUSALS,
].join(', ');

/** The outcome that a value of `test_outcome` asks for; `null` when it is none of them. */
export const testOutcomeOf = (value: string): TestOutcome | null => {
  const refusal = REFUSALS.find((one) => one === value);
  if (refusal) return { kind: 'refused', refusal };
  if (value === 'delayed') return { kind: 'waiting', forMs: DELAYED_AFTER_MS, announced: true };
  if (value === 'webhook_refused') return { kind: 'webhook_refused', attempts: null };
  const [name, argument = ''] = split(value);
  if (name === 'failed') {
    const code = FAILURE_CODES.find((one) => one === argument);
    return code ? { kind: 'failed', code } : null;
  }
  if (name === 'webhook_refused') {
    const attempts = numberOf(argument, MOST_REFUSED_ATTEMPTS);
    return attempts === null ? null : { kind: 'webhook_refused', attempts };
  }
  const seconds = numberOf(argument, LONGEST_SECONDS);
  if (seconds === null) return null;
  if (name === 'slow') return { kind: 'waiting', forMs: seconds * 1_000, announced: false };
  return name === 'publication_late' ? { kind: 'publication_late', byMs: seconds * 1_000 } : null;
};

/** The outcome that a test reading with this metadata asked for; `null`: none. */
export const askedOutcome = (metadata: Readonly<Record<string, string>> | undefined): TestOutcome | null => {
  const value = metadata?.[TEST_OUTCOME];
  return value === undefined ? null : testOutcomeOf(value);
};

const split = (value: string): readonly string[] => {
  const colon = value.indexOf(':');
  return colon === -1 ? [value] : [value.slice(0, colon), value.slice(colon + 1)];
};

/** A number from 1 to `most`. */
const numberOf = (text: string, most: number): number | null =>
  /^[1-9]\d?$/.test(text) && Number(text) <= most ? Number(text) : null;
