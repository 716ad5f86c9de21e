import { projectPath } from '@app/platform/project-path.js';
import { Piscina } from 'piscina';
import type { DocumentV1 } from '../document/document.js';

export interface PdfRendererOptions {
  /**
   * Worker threads, at least 1. Each holds a compiler and its fonts, about 60 MB; what they keep of earlier documents, some
   * 370 MB, they share.
   */
  readonly threads: number;
  /** Documents that may wait for a thread before `render` refuses more. Default 256. */
  readonly maxQueue?: number;
  /** Milliseconds from `render` to its answer, waiting included. Default 60 000. */
  readonly timeoutMs?: number;
}

export interface PdfRenderer {
  /**
   * The document as a tagged PDF (PDF/UA-1). Deterministic bytes.
   * @throws Error if the queue is full, the time is up, or the document cannot be typeset
   */
  render(document: DocumentV1): Promise<Uint8Array>;
  /** Lets running renders end, refuses new ones and stops the threads. */
  close(): Promise<void>;
}

const DEFAULT_MAX_QUEUE = 256;
const DEFAULT_TIMEOUT_MS = 60_000;
const IDLE_TIMEOUT_MS = 60_000;

/**
 * A bounded pool of threads that typeset PDFs. The threads run the compiled worker, so the project must be built.
 * A render that outlives its time loses its thread, since Typst cannot be interrupted; the pool starts another.
 */
export const createPdfRenderer = ({
  threads,
  maxQueue = DEFAULT_MAX_QUEUE,
  timeoutMs = DEFAULT_TIMEOUT_MS,
}: PdfRendererOptions): PdfRenderer => {
  const pool = new Piscina<DocumentV1, Uint8Array>({
    filename: projectPath('dist/libs/publishing/src/pdf/worker.js'),
    minThreads: 1,
    maxThreads: threads,
    // Longer than a thread waits before it forgets what it kept. Its timer needs an event loop that runs meanwhile.
    idleTimeout: IDLE_TIMEOUT_MS,
    atomics: 'disabled',
  });
  // Counted here: the pool's own limit overlooks tasks that carry an abort signal.
  let unfinished = 0;
  return {
    render: async (document) => {
      if (unfinished >= threads + maxQueue) {
        throw new Error(`The PDF renderer is full: ${unfinished} documents are unfinished`);
      }
      unfinished += 1;
      try {
        return await pool.run(document, { signal: AbortSignal.timeout(timeoutMs) });
      } finally {
        unfinished -= 1;
      }
    },
    close: () => pool.close(),
  };
};
