import { Piscina } from 'piscina';
import { Lanes, LanesFull } from '../work/lanes.js';

export interface TypesettingPoolOptions {
  /** Absolute path of the compiled module that a thread runs. Its default export makes a PDF from a task. */
  readonly worker: string;
  /** Worker threads, at least 1. Each holds a compiler and its fonts, about 60 MB. */
  readonly threads: number;
  /** Threads that stay while there is no work. Default 0: the first task starts one. */
  readonly idleThreads?: number;
  /** Tasks that may wait for a thread, at most. */
  readonly maxQueue: number;
  /** How long a task may wait for a thread, and then take (ms). */
  readonly timeoutMs: number;
}

export interface TypesettingPool<Task> {
  /**
   * @param begin is awaited when a thread is free for the task
   * @throws TypesettingBusy when the queue is full or the wait was too long; TypesettingHung; Error when the task cannot be
   * typeset
   */
  run(task: Task, begin?: () => Promise<void>): Promise<Uint8Array>;
  /** Refuses new tasks, waits for the running ones, and stops the threads. */
  close(): Promise<void>;
}

/** The pool has too much to do: later it may have time. */
export class TypesettingBusy extends Error {
  override readonly name = 'TypesettingBusy';
}

/** The task took too long, and its thread was ended. */
export class TypesettingHung extends Error {
  override readonly name = 'TypesettingHung';
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
  // Not the pool's own queue: the time of a task begins with its thread, so that one that hangs is not others' fault.
  const lanes = new Lanes(threads, maxQueue);
  const typeset = async (task: Task): Promise<Uint8Array> => {
    const signal = AbortSignal.timeout(timeoutMs);
    return pool.run(task, { signal }).catch((error: unknown) => {
      throw signal.aborted
        ? new TypesettingHung(`The PDF renderer was aborted after ${timeoutMs} ms`, { cause: error })
        : error;
    });
  };
  return {
    run: (task, begin) => {
      const askedAt = performance.now();
      return lanes
        .run(async () => {
          if (performance.now() - askedAt > timeoutMs)
            throw new TypesettingBusy(`The PDF renderer had no thread for ${timeoutMs} ms`);
          await begin?.();
          return typeset(task);
        })
        .catch((error: unknown) => {
          throw error instanceof LanesFull ? new TypesettingBusy('The PDF renderer is full') : error;
        });
    },
    close: () => pool.close(),
  };
};
