import { ENGINE_VERSION, METHOD, type Method } from './method.js';
import type { Theme } from './theme.js';

export type Locale = 'fr-FR' | 'en-US';

/** The result of a completed reading: `schema/result.schema.json`. A new field is 1.x, a changed meaning 2.0. */
export interface ReadingResult extends Theme {
  readonly resultVersion: '1.0';
  readonly readingId: string;
  readonly productId: 'theme';
  readonly profileId: 'evan';
  readonly locale: Locale;
  readonly method: Method;
  readonly engineVersion: string;
  readonly contentVersion: string;
  readonly document: { readonly formats: readonly string[] };
}

export interface ResultEnvelope {
  readonly readingId: string;
  readonly locale: Locale;
  readonly contentVersion: string;
  readonly formats: readonly string[];
}

/** The public result of a theme. Its key order is fixed, so that `JSON.stringify` always gives the same bytes. */
export const toResult = (theme: Theme, envelope: ResultEnvelope): ReadingResult => ({
  resultVersion: '1.0',
  readingId: envelope.readingId,
  productId: 'theme',
  profileId: 'evan',
  locale: envelope.locale,
  method: METHOD,
  engineVersion: ENGINE_VERSION,
  contentVersion: envelope.contentVersion,
  ...theme,
  document: { formats: envelope.formats },
});
