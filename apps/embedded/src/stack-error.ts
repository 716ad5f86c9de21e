/**
 * A start that cannot continue. The message is one line that a person can act on; it is printed without a
 * stack trace.
 */
export class StackError extends Error {
  override readonly name = 'StackError';
}

/** Whether a file-system call failed with this code. */
export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && codes.includes(String(error.code));
