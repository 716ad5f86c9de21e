import { projectPath } from '@app/platform/project-path.js';
import { Piscina } from 'piscina';
import type { Paper } from '../contracts/paper.js';
import type { DocumentV1 } from '../document/document.js';

export interface PdfRendererOptions {
  /**
   * Worker threads, at least 1. Each holds a compiler and its fonts, about 60 MB. They share the cache of earlier
   * documents, about 300 MB.
   */
  readonly threads: number;
  /** Documents that may wait for a thread, at most; `render` then refuses more. Default 256. */
  readonly maxQueue?: number;
  /** Timeout of `render` in milliseconds, waiting included. Default 60,000. */
  readonly timeoutMs?: number;
}

export interface PdfRenderer {
  /**
   * Renders the document as a tagged PDF (PDF/UA-1). Deterministic bytes.
   * @param paper default `by-locale`
   * @throws Error when the queue is full, the timeout expires, or the document cannot be typeset
   */
  render(document: DocumentV1, paper?: Paper): Promise<Uint8Array>;
  /** Refuses new renders, waits for the running ones, and stops the threads. */
  close(): Promise<void>;
}

/** What a thread gets. */
export interface RenderTask {
  readonly document: DocumentV1;
  readonly paper: Paper | undefined;
}

const DEFAULT_MAX_QUEUE = 256;
const DEFAULT_TIMEOUT_MS = 60_000;
const IDLE_TIMEOUT_MS = 60_000;

/**
 * Typst lays out the parts of a document in threads of its own, shared by the process: by default, one for each core.
 * That is quicker only while cores are idle, and each thread keeps memory. It reads this once, at the first document.
 */
const limitTypst = (threads: number): void => {
  process.env.RAYON_NUM_THREADS ??= String(threads);
};

/**
 * A bounded pool of threads that typeset PDFs. The threads run the compiled worker, so the project must be built.
 * Typst cannot be interrupted: when a render times out, the pool ends its thread and starts another.
 */
export const createPdfRenderer = ({
  threads,
  maxQueue = DEFAULT_MAX_QUEUE,
  timeoutMs = DEFAULT_TIMEOUT_MS,
}: PdfRendererOptions): PdfRenderer => {
  limitTypst(threads);
  const pool = new Piscina<RenderTask, Uint8Array>({
    filename: projectPath('dist/libs/publishing/src/pdf/worker.js'),
    minThreads: 1,
    maxThreads: threads,
    // Longer than the delay after which a thread clears its cache: that timer needs the thread's event loop.
    idleTimeout: IDLE_TIMEOUT_MS,
    atomics: 'disabled',
  });
  // Counted here, because the pool's own limit ignores tasks with an abort signal.
  let unfinished = 0;
  return {
    render: async (document, paper) => {
      if (unfinished >= threads + maxQueue) {
        throw new Error(`The PDF renderer is full: ${unfinished} documents are unfinished`);
      }
      unfinished += 1;
      try {
        return await pool.run({ document, paper }, { signal: AbortSignal.timeout(timeoutMs) });
      } finally {
        unfinished -= 1;
      }
    },
    close: () => pool.close(),
  };
};
