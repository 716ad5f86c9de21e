import { z } from 'zod';
import { count, setting, span } from '#platform/config/setting.js';
import type { ConfigWith } from '#platform/config/settings.js';

/** How documents are typeset and waited for. */
export const settings = {
  PDF_THREADS: count(1, 'threads that typeset PDFs, per worker process'),
  DOCUMENT_VERSIONS: count(20, 'versions that the document of a reading may have'),
  DOCUMENT_LINKS: count(100, 'live links that the document of a reading may have'),
  PUBLIC_URL: setting(
    z
      .url({ protocol: /^https?$/, error: 'must be of the form https://host, with a path at most' })
      .refine(
        (text) => /^https?:\/\/[^/@?#]+(\/[^?#]*)?$/i.test(text),
        'must be of the form https://host, without login, query and fragment',
      )
      .transform((text) => text.replace(/\/+$/, ''))
      .optional(),
    'where callers reach the API, as https://readings.example.com; links to documents and to the portal begin with it. Default: http and the address it listens on',
  ),
  DOCUMENT_WAIT_MS: span(5_000, 'longest wait for the publication of a completed reading'),
};

export type Config = ConfigWith<typeof settings>;
