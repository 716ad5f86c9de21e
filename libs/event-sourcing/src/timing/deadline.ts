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

/**
 * The same for work that is under way and takes no signal. Several run for each request, so it makes one promise.
 * Work that fails later causes no unhandled rejection.
 */
export const beforeDeadline = <T, L = never>(
  milliseconds: number,
  work: Promise<T>,
  late: () => L,
): Promise<T | L> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      try {
        resolve(late());
      } catch (error) {
        reject(error as Error);
      }
    }, milliseconds);
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error: Error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
