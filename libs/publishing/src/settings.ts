import { count, milliseconds } from '@app/platform/config/setting.js';
import type { ConfigWith } from '@app/platform/config/settings.js';

/** How documents are typeset and waited for. */
export const settings = {
  PDF_THREADS: count(1, 'threads that typeset PDFs, per worker process'),
  DOCUMENT_VERSIONS: count(20, 'versions that the document of a reading may have'),
  DOCUMENT_WAIT_MS: milliseconds(5_000, 'longest wait for the publication of a completed reading'),
};

export type Config = ConfigWith<typeof settings>;
