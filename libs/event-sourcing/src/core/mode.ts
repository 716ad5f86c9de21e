/**
 * Test resources run the same path as live ones, on a credit book of their own. The two never mix: nothing of one mode
 * is visible to a caller of the other, or changes it.
 */
export const MODES = ['live', 'test'] as const;
export type Mode = (typeof MODES)[number];
