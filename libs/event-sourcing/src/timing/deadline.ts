/**
 * What the work yields or, when it takes longer than so many milliseconds, what `late` yields or throws. `work` gets a
 * signal that is aborted then. Work that ignores it goes on, and its end is not waited for.
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
    // The race keeps listening, so that work that fails later is no unhandled rejection.
    return await Promise.race([work(givenUp.signal), deadline]);
  } finally {
    clearTimeout(timer);
  }
};
