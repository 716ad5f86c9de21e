import { calculateTheme, canonicalGender, toResult, type Locale } from '@app/numerology/index.js';
import type { DocumentPublisher } from '../../contracts/ports/index.js';
import type { ReadingInput } from '../../domain/reading/reading-view.js';

/** The input was accepted but cannot be calculated. A retry would not help. */
export class InputUnprocessable extends Error {
  override readonly name = 'InputUnprocessable';
}

export interface CalculationRequest {
  readonly readingId: string;
  readonly locale: Locale;
  readonly asOf: string;
  readonly input: ReadingInput;
}

/** Calculates the exact bytes of `/result` from an input. @throws InputUnprocessable */
export type ThemeCalculator = (request: CalculationRequest) => Buffer;
export const THEME_CALCULATOR = Symbol('ThemeCalculator');

export const themeCalculator =
  ({ contentVersion, formats }: Pick<DocumentPublisher, 'contentVersion' | 'formats'>): ThemeCalculator =>
  ({ readingId, locale, asOf, input }) => {
    const subjectGender = canonicalGender(input.grammaticalProfile.subjectGender);
    if (subjectGender === null)
      throw new InputUnprocessable('The grammatical gender is not one of the allowed values');
    const theme = calculateTheme({ name: input.name, dateOfBirth: input.dateOfBirth, subjectGender }, asOf);
    const result = toResult(theme, {
      readingId,
      locale,
      contentVersion,
      formats,
    });
    return Buffer.from(JSON.stringify(result));
  };
