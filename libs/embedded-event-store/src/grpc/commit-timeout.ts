import type { WriteOutcome } from '../streams/stream-writer.js';

/** The write was not durable in time. It is already numbered: it becomes durable later, or the server exits. */
export interface TimedOut {
  readonly kind: 'timed-out';
}

/**
 * Stops waiting when a write takes too long to become durable. The write itself continues, so its outcome is
 * unknown. The caller can learn it by appending the same events again.
 */
export const withinCommitTimeout = async (
  write: Promise<WriteOutcome>,
  commitTimeoutMs: number,
): Promise<WriteOutcome | TimedOut> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<TimedOut>((resolve) => {
    timer = setTimeout(resolve, commitTimeoutMs, { kind: 'timed-out' });
  });
  try {
    return await Promise.race([write, timeout]);
  } finally {
    clearTimeout(timer);
  }
};
