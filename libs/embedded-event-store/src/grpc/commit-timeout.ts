import type { WriteOutcome } from '../streams/stream-writer.js';

/** The write is numbered and will be durable, or the server will end; it was not durable in time. */
export interface TimedOut {
  readonly kind: 'timed-out';
}

/**
 * Gives up waiting for a write to become durable; the write itself goes on, so a caller who is told so cannot know
 * its outcome but by appending the same events again.
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
