import type { Locale } from '#numerology/index.js';

/** What a request specifies besides the input. */
export interface RequestedFields {
  readonly productId: string;
  readonly profileId: string;
  readonly locale: Locale;
}

/** Picks these fields from an object that has them. */
export const requestedFields = ({ productId, profileId, locale }: RequestedFields): RequestedFields => ({
  productId,
  profileId,
  locale,
});

/** What the caller sent, unchanged. Sealed wherever it is stored. */
export interface ReadingInput {
  readonly name: {
    readonly firstNames: readonly string[];
    readonly middleNames: readonly string[];
    readonly lastNames: readonly string[];
  };
  readonly dateOfBirth: string;
  readonly grammaticalProfile: { readonly subjectGender: string };
  /** The caller's own name for the reading, and notes on it; absent when none were sent. */
  readonly externalId?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}
