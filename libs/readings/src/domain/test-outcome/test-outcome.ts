import { FAILURE_CODES, type FailureCode } from '../../contracts/events.js';

/** The key in `metadata` by which a test reading asks for its outcome. */
export const TEST_OUTCOME = 'test_outcome';

/** Refusals that a request can ask for: it is answered at once, and nothing is stored. */
const REFUSALS = ['insufficient_credits', 'rate_limited', 'unavailable', 'billing_misconfigured'] as const;
export type AskedRefusal = (typeof REFUSALS)[number];

/** How long after acceptance an asked delay is announced (ms). */
const DELAYED_AFTER_MS = 5_000;
const LONGEST_SECONDS = 60;

/** What a test reading is to go through. Durations are milliseconds. */
export type TestOutcome =
  | { readonly kind: 'failed'; readonly code: FailureCode }
  /** Its first attempt waits until so long after acceptance; then the delay is announced, if it is to be. */
  | { readonly kind: 'waiting'; readonly forMs: number; readonly announced: boolean }
  /** Its documents are published no earlier than so long after its completion. */
  | { readonly kind: 'publication_late'; readonly byMs: number }
  | { readonly kind: 'refused'; readonly refusal: AskedRefusal };

/** For the detail of a refused value. */
export const TEST_OUTCOMES_ALLOWED = [
  ...FAILURE_CODES.map((code) => `failed:${code}`),
  'delayed',
  `slow:<seconds, 1 to ${LONGEST_SECONDS}>`,
  `publication_late:<seconds, 1 to ${LONGEST_SECONDS}>`,
  ...REFUSALS,
].join(', ');

/** The outcome that a value of `test_outcome` asks for; `null` when it is none of them. */
export const testOutcomeOf = (value: string): TestOutcome | null => {
  const refusal = REFUSALS.find((one) => one === value);
  if (refusal) return { kind: 'refused', refusal };
  if (value === 'delayed') return { kind: 'waiting', forMs: DELAYED_AFTER_MS, announced: true };
  const [name, argument = ''] = split(value);
  if (name === 'failed') {
    const code = FAILURE_CODES.find((one) => one === argument);
    return code ? { kind: 'failed', code } : null;
  }
  const ms = millisecondsOf(argument);
  if (ms === null) return null;
  if (name === 'slow') return { kind: 'waiting', forMs: ms, announced: false };
  return name === 'publication_late' ? { kind: 'publication_late', byMs: ms } : null;
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

const millisecondsOf = (text: string): number | null => {
  if (!/^[1-9]\d?$/.test(text)) return null;
  return Number(text) <= LONGEST_SECONDS ? Number(text) * 1_000 : null;
};
