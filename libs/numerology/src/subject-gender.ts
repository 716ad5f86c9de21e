export type SubjectGender = 'feminine' | 'masculine' | 'neutral';

const ALIASES: ReadonlyMap<string, SubjectGender> = new Map([
  ...['feminine', 'female', 'f', 'woman'].map((alias) => [alias, 'feminine'] as const),
  ...['masculine', 'male', 'm', 'man'].map((alias) => [alias, 'masculine'] as const),
  ...['neutral', 'other', 'x', 'nonbinary', 'neuter', 'unspecified'].map(
    (alias) => [alias, 'neutral'] as const,
  ),
]);

/** All spellings that `canonicalGender` accepts, the canonical ones first; for error messages and schemas. */
export const GENDER_SPELLINGS: readonly string[] = [
  ...new Set<string>(['feminine', 'masculine', 'neutral', ...ALIASES.keys()]),
];

/** Longer than each of them: what follows cannot make a text one of them. */
const LONGER = 20;

/**
 * The canonical gender of a submitted spelling in any letter case; null for anything else.
 * Gender affects only grammatical agreement, never a number.
 */
export const canonicalGender = (text: string): SubjectGender | null =>
  ALIASES.get(text.slice(0, LONGER).toLowerCase()) ?? null;
