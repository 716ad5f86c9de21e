/**
 * One answer for everybody who asks while it is being found, and for `freshMs` afterwards: however many ask, the
 * question is worked on once at a time. An error is shared like an answer.
 * @param now milliseconds of a clock that only goes forwards
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
