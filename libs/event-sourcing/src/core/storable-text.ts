/** Whether PostgreSQL can store the text unchanged: it contains neither U+0000 nor a lone surrogate. */
export const isStorable = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed();

/** The path of a text that PostgreSQL cannot store, such as `grants.0.label`; `null` when there is none. */
export const findUnstorable = (value: unknown): string | null => {
  if (typeof value === 'string') return isStorable(value) ? null : '';
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    const found = findUnstorable(member);
    if (found !== null) return found === '' ? name : `${name}.${found}`;
  }
  return null;
};
