/** A start that cannot continue: its message is one line to act on, printed without a stack trace. */
export class StackError extends Error {
  override readonly name = 'StackError';
}

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && codes.includes(String(error.code));
