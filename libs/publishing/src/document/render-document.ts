import type { ReadingResult } from '#numerology/index.js';
import type { Paper } from '#workspaces/contracts/index.js';
import { CONTENT_VERSION } from '../contracts/content-version.js';
import type { DocumentFormat } from '../contracts/index.js';
import { renderMarkdown } from '../markdown/render.js';
import { composeDocument } from './compose.js';
import type { DocumentV1 } from './document.js';

/** The place of a document among those of its reading. Fixed before the first attempt at it. */
export interface Edition {
  /** From 1. */
  readonly version: number;
  /** RFC 3339 UTC. */
  readonly publishedAt: string;
  /** False for a test reading: every format is marked. */
  readonly livemode: boolean;
  readonly paper: Paper;
}

/**
 * All formats of a document, from this program's texts. The same result, edition and program give the same bytes.
 * @param result the bytes of `/result`
 */
export const renderDocument = async (
  result: Buffer,
  { version, publishedAt, livemode, paper }: Edition,
  typeset: (document: DocumentV1, paper: Paper) => Uint8Array | Promise<Uint8Array>,
): Promise<Readonly<Record<DocumentFormat, Uint8Array>>> => {
  const stored = JSON.parse(result.toString('utf8')) as ReadingResult;
  // A result keeps the version of the texts that were current when it was calculated.
  const document = composeDocument(
    { ...stored, contentVersion: CONTENT_VERSION },
    { publishedAt, documentVersion: version, livemode },
  );
  return {
    document_v1: Buffer.from(JSON.stringify(document)),
    markdown: Buffer.from(renderMarkdown(document)),
    pdf: await typeset(document, paper),
  };
};
