/**
 * One answer for everyone who asks while it is computed, and for `freshMs` afterwards: the work runs at most once at a
 * time, for any number of callers. An error is shared like an answer.
 * @param now milliseconds of a monotonic clock
 */
export const sharedAnswer = <T>(
  freshMs: number,
  find: () => Promise<T>,
  now: () => number = () => performance.now(),
): (() => Promise<T>) => {
  let latest: { readonly answer: Promise<T>; foundAt: number } | null = null;
  return () => {
    if (latest && now() - latest.foundAt < freshMs) return latest.answer;
    const mine = { answer: find(), foundAt: Infinity };
    const found = (): void => {
      mine.foundAt = now();
    };
    mine.answer.then(found, found);
    latest = mine;
    return mine.answer;
  };
};
