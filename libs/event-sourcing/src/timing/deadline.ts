/**
 * Returns the result of `work` or, past the deadline, the result of `late`, which may throw. The deadline aborts the
 * signal that `work` receives. Work that ignores the signal continues, and nobody waits for it.
 */
export const withDeadline = async <T, L = never>(
  milliseconds: number,
  work: (givenUp: AbortSignal) => Promise<T>,
  late: () => L,
): Promise<T | L> => {
  const givenUp = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      givenUp.abort();
      resolve();
    }, milliseconds);
  }).then(late);
  try {
    // The race keeps listening, so work that fails later causes no unhandled rejection.
    return await Promise.race([work(givenUp.signal), deadline]);
  } finally {
    clearTimeout(timer);
  }
};
