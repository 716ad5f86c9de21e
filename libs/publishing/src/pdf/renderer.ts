import { projectPath } from '#platform/project-path.js';
import { typesettingPool } from '#platform/typesetting/typesetting-pool.js';
import type { Paper } from '#workspaces/contracts/index.js';
import type { DocumentV1 } from '../document/document.js';

/** What a thread gets. */
export interface RenderTask {
  readonly document: DocumentV1;
  readonly paper: Paper | undefined;
}

/** Documents that may wait for a thread, at most; `render` then refuses more. */
const MOST_WAITING = 256;
/** A document takes less than a second, and some on a busy machine: one that waits or takes a minute never ends. */
const TIMEOUT_MS = 60_000;

/**
 * A bounded pool of threads that typeset documents, one of them always ready.
 * @param threads at least 1. Each holds a compiler and its fonts, about 60 MB. They share the cache of earlier documents,
 * about 300 MB.
 */
export const createPdfRenderer = (threads: number) => {
  const worker = projectPath('dist/libs/publishing/src/pdf/worker.js');
  const bounds = { maxQueue: MOST_WAITING, timeoutMs: TIMEOUT_MS };
  const pool = typesettingPool<RenderTask>({ worker, threads, idleThreads: 1, ...bounds });
  return {
    /**
     * Renders the document as a tagged PDF (PDF/UA-1). Deterministic bytes.
     * @param paper default `by-locale`
     * @param begin is awaited when a thread is free for the document
     * @throws TypesettingBusy when the queue is full or the wait was too long; TypesettingHung when a thread had to be
     * ended; Error when the document cannot be typeset
     */
    render(document: DocumentV1, paper?: Paper, begin?: () => Promise<void>): Promise<Uint8Array> {
      return pool.run({ document, paper }, begin);
    },
    /** Refuses new renders, waits for the running ones, and stops the threads. */
    close: (): Promise<void> => pool.close(),
  };
};

export type PdfRenderer = ReturnType<typeof createPdfRenderer>;
