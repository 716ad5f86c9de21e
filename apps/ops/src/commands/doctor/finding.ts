import type { FaultKind } from '#platform/fault/fault.js';

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'failure';
  readonly message: string;
  /** What to do; empty when the check passes. */
  readonly advice: string;
  /** Of a check that could not run: the kind of fault, such as `absent` or `table_missing`. */
  readonly cause?: FaultKind;
}

export const ok = (check: string, message: string): Finding => ({ check, level: 'ok', message, advice: '' });
export const warning = (check: string, message: string, advice: string): Finding => ({
  check,
  level: 'warning',
  message,
  advice,
});
export const failure = (check: string, message: string, advice: string): Finding => ({
  check,
  level: 'failure',
  message,
  advice,
});

/** Ok below the first limit, a warning below the second, a failure at or above it. */
export const graded = (
  check: string,
  value: number,
  [warnFrom, failFrom]: readonly [number, number],
  message: string,
  advice: string,
): Finding => {
  if (value >= failFrom) return failure(check, message, advice);
  return value >= warnFrom ? warning(check, message, advice) : ok(check, message);
};
