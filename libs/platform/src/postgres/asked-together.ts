import DataLoader from 'dataloader';

/** Questions put in one statement at most. */
const MOST = 256;

/**
 * Puts questions that are asked in the same event-loop turn in one statement: under load the system calls and
 * parsing of a statement cost more than a row of it. A question asked alone goes out at once, and no answer is kept.
 * @param ask answers all of them, in their order
 */
export const askedTogether = <Question, Answer>(
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  { most = MOST }: { most?: number } = {},
): ((question: Question) => Promise<Answer>) => {
  const loader = new DataLoader<Question, Answer>(ask, {
    cache: false,
    maxBatchSize: most,
    // After all connections that have something to say were heard.
    batchScheduleFn: (send) => setImmediate(send),
  });
  return (question) => loader.load(question);
};
