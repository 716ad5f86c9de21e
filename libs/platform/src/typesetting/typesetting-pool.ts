import { Piscina } from 'piscina';

export interface TypesettingPoolOptions {
  /** Absolute path of the compiled module that a thread runs. Its default export makes a PDF from a task. */
  readonly worker: string;
  /** Worker threads, at least 1. Each holds a compiler and its fonts, about 60 MB. */
  readonly threads: number;
  /** Threads that stay while there is no work. Default 0: the first task starts one. */
  readonly idleThreads?: number;
  /** Tasks that may wait for a thread, at most. */
  readonly maxQueue: number;
  /** Of one task in milliseconds, waiting included. */
  readonly timeoutMs: number;
}

export interface TypesettingPool<Task> {
  /** @throws TypesettingBusy when the queue is full or the time is over; Error when the task cannot be typeset */
  run(task: Task): Promise<Uint8Array>;
  /** Refuses new tasks, waits for the running ones, and stops the threads. */
  close(): Promise<void>;
}

/** The pool has too much to do: later it may have time. */
export class TypesettingBusy extends Error {
  override readonly name = 'TypesettingBusy';
}

const IDLE_TIMEOUT_MS = 60_000;

/**
 * Typst lays out the parts of a document in threads of its own, shared by the process: by default, one for each core.
 * That is quicker only while cores are idle, and each thread keeps memory. It reads this once, at the first document.
 */
const limitTypst = (threads: number): void => {
  process.env.RAYON_NUM_THREADS ??= String(threads);
};

/**
 * A bounded pool of threads that typeset PDFs. The threads run compiled modules, so the project must be built. Typst
 * cannot be interrupted: when a task times out, the pool ends its thread and starts another.
 */
export const typesettingPool = <Task>({
  worker,
  threads,
  idleThreads = 0,
  maxQueue,
  timeoutMs,
}: TypesettingPoolOptions): TypesettingPool<Task> => {
  limitTypst(threads);
  const pool = new Piscina<Task, Uint8Array>({
    filename: worker,
    minThreads: idleThreads,
    maxThreads: threads,
    // Longer than the delay after which a thread clears its cache: that timer needs the thread's event loop.
    idleTimeout: IDLE_TIMEOUT_MS,
    atomics: 'disabled',
  });
  // Counted here, because the pool's own limit ignores tasks with an abort signal.
  let unfinished = 0;
  return {
    run: async (task) => {
      if (unfinished >= threads + maxQueue)
        throw new TypesettingBusy(`The PDF renderer is full: ${unfinished} documents are unfinished`);
      unfinished += 1;
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        return await pool.run(task, { signal });
      } catch (error) {
        throw signal.aborted
          ? new TypesettingBusy(`The PDF renderer was aborted after ${timeoutMs} ms`, { cause: error })
          : error;
      } finally {
        unfinished -= 1;
      }
    },
    close: () => pool.close(),
  };
};
