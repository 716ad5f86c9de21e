import { calculateTheme, type ReadingResult, toResult } from '#numerology/index.js';
import { composeDocument } from '../compose.js';
import type { DocumentV1, GrammaticalGender, Locale } from '../document.js';
import type { Person } from './random-people.js';
import { CONTENT_VERSION } from '../../contracts/content-version.js';

export const LOCALES = ['fr-FR', 'en-US'] as const satisfies readonly Locale[];
export const GENDERS = ['feminine', 'masculine', 'neutral'] as const satisfies readonly GrammaticalGender[];

/** Default date of trial readings; fixed, so that they never change. */
export const TRIAL_DAY = '2026-09-29';

export interface Trial {
  readonly person: Person;
  readonly locale: Locale;
  readonly gender: GrammaticalGender;
  /** `YYYY-MM-DD` */
  readonly asOf?: string;
}

/** The result of somebody who asked for no reading: for previews, samples and measurements. */
export const trialResult = ({ person, locale, gender, asOf = TRIAL_DAY }: Trial): ReadingResult =>
  toResult(calculateTheme({ ...person, subjectGender: gender }, asOf), {
    readingId: '00000000-0000-4000-8000-000000000000',
    locale,
    contentVersion: CONTENT_VERSION,
    formats: ['document_v1', 'markdown', 'pdf'],
  });

/** The document of such a result, published at midnight of its day. */
export const trialDocument = (trial: Trial): DocumentV1 =>
  composeDocument(trialResult(trial), { publishedAt: `${trial.asOf ?? TRIAL_DAY}T00:00:00.000Z` });
