import type { Mode } from '#event-sourcing/core/request-context.js';
import { Problem, invalidRequest } from '#platform/http/problem.js';
import {
  TEST_OUTCOME,
  TEST_OUTCOMES_ALLOWED,
  testOutcomeOf,
  type AskedRefusal,
} from '../domain/test-outcome/test-outcome.js';
import type { BulkItem } from './bulk-body.js';

/** Each as the real refusal answers, with figures of its own. */
const PROBLEMS: Readonly<Record<AskedRefusal, () => Problem>> = {
  insufficient_credits: () =>
    new Problem('insufficient_credits', {
      detail: 'You asked for this refusal by metadata.test_outcome',
      members: { required: 20, available: 0 },
      isAsked: true,
    }),
  rate_limited: () => refused('rate_limited', '1'),
  unavailable: () => refused('enqueue_unavailable', '5'),
  billing_misconfigured: () => refused('billing_misconfigured', '60'),
};

const refused = (
  code: 'rate_limited' | 'enqueue_unavailable' | 'billing_misconfigured',
  retryAfter: string,
): Problem =>
  new Problem(code, {
    detail: 'You asked for this refusal by metadata.test_outcome',
    headers: { 'Retry-After': retryAfter },
    isAsked: true,
  });

/**
 * The refusal that a request asks for by its metadata; `null` when it is to be accepted.
 * @throws Problem validation_failed in live mode, and for an unknown outcome
 */
export const askedRefusal = (
  metadata: Readonly<Record<string, string>> | null | undefined,
  mode: Mode,
): Problem | null => {
  const value = metadata?.[TEST_OUTCOME];
  if (value === undefined) return null;
  const outcome = mode === 'test' ? testOutcomeOf(value) : null;
  if (outcome) return outcome.kind === 'refused' ? PROBLEMS[outcome.refusal]() : null;
  const detail = mode === 'test' ? `must be one of ${TEST_OUTCOMES_ALLOWED}` : 'is for test keys alone';
  throw invalidRequest([{ pointer: `/metadata/${TEST_OUTCOME}`, code: 'invalid_value', detail }]);
};

/** A reading of a bulk: invalid, too, when it asks for a refusal. It then gets that one. */
export const refusedAsAsked = <T extends { readonly metadata?: Readonly<Record<string, string>> | null }>(
  item: BulkItem<T>,
  mode: Mode,
): BulkItem<T> => {
  if (item.checked instanceof Problem) return item;
  try {
    const refusal = askedRefusal(item.checked.metadata, mode);
    return refusal ? { ...item, checked: refusal } : item;
  } catch (error) {
    if (error instanceof Problem) return { ...item, checked: error };
    throw error;
  }
};
