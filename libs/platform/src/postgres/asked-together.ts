import DataLoader from 'dataloader';

/** Maximum number of questions per statement. */
const MOST = 256;

/**
 * Batches the questions of one event-loop turn into one statement: under load, a statement's system calls and parsing
 * cost more than one of its rows. A single question is sent at once, and no answer is cached.
 * @param ask answers all of them, in their order
 */
export const askedTogether = <Question, Answer>(
  ask: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  { most = MOST }: { most?: number } = {},
): ((question: Question) => Promise<Answer>) => {
  const loader = new DataLoader<Question, Answer>(ask, {
    cache: false,
    maxBatchSize: most,
    // Runs after the event loop has read all ready connections.
    batchScheduleFn: (send) => setImmediate(send),
  });
  return (question) => loader.load(question);
};
