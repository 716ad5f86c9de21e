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
  return beforeDeadline(milliseconds, work(givenUp.signal), () => {
    givenUp.abort();
    return late();
  });
};

/** The same for work that is under way and takes no signal: each request has several of them. */
export const beforeDeadline = async <T, L = never>(
  milliseconds: number,
  work: Promise<T>,
  late: () => L,
): Promise<T | L> => {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  }).then(late);
  try {
    // The race keeps listening, so work that fails later causes no unhandled rejection.
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
};
