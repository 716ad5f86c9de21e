import type { ReadingResult } from '#numerology/index.js';
import { createComposer } from './composer.js';
import type { DocumentV1 } from './document.js';
import { cycles } from './sections/cycles.js';
import { grid } from './sections/grid.js';
import { method } from './sections/method.js';
import { name } from './sections/name.js';
import { closingNotice, opening, overview } from './sections/opening.js';
import { path } from './sections/path.js';
import { synthesis } from './sections/synthesis.js';
import { year } from './sections/year.js';
import { wordCount } from './walk.js';

export interface PublicationOptions {
  /** RFC 3339, UTC; also the creation date of the PDF. */
  readonly publishedAt: string;
  /** Publication counter of the reading, from 1 (the default). */
  readonly documentVersion?: number;
  /** False for a test reading. Default: true. */
  readonly livemode?: boolean;
}

/** Stands under the title of a test reading's document. */
const TEST_DETAIL = {
  'fr-FR': 'TEST – lecture d’essai, faite en mode test',
  'en-US': 'TEST – trial reading, made in test mode',
} as const;

/** In order: the general, the particular, time, the whole again, and the arithmetic last. */
const SECTIONS = [opening, overview, path, name, grid, cycles, year, synthesis, method, closingNotice];

/**
 * Composes the document of a reading in its locale and grammatical gender. Pure: the same result, options and content
 * version give the same tree.
 * @throws Error when the content has a gap: a bug, never caused by the input
 */
export const composeDocument = (result: ReadingResult, options: PublicationOptions): DocumentV1 => {
  const composer = createComposer(result);
  const isTest = options.livemode === false;
  const head = {
    title: composer.plain('frames/opening documentTitle'),
    subtitle: composer.name,
    details: [
      composer.plain('frames/opening born', { date: composer.date(result.subject.dateOfBirth) }),
      composer.plain('frames/opening established', { date: composer.date(result.asOf) }),
      ...(isTest ? [TEST_DETAIL[result.locale]] : []),
    ],
  };
  const children = SECTIONS.map((write) => write(composer));
  return {
    type: 'document',
    schemaVersion: '1.0',
    locale: result.locale,
    ...(isTest && { livemode: false }),
    ...head,
    meta: {
      readingId: result.readingId,
      productId: result.productId,
      profileId: result.profileId,
      method: result.method.id,
      engineVersion: result.engineVersion,
      contentVersion: result.contentVersion,
      documentVersion: options.documentVersion ?? 1,
      asOf: result.asOf,
      publishedAt: options.publishedAt,
      wordCount: wordCount({ ...head, children }),
      subject: result.subject,
    },
    children,
  };
};
