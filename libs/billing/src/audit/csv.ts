/** What a spreadsheet may take for the start of a formula (OWASP, CSV injection). */
const FORMULA_START = /^[=+\-@\t\r\n]/;

/**
 * A cell by RFC 4180. A text that a spreadsheet would run gets an apostrophe before it, which shows it as text; numbers
 * are left as they are.
 */
const cell = (value: string | number): string => {
  if (typeof value === 'number') return String(value);
  const safe = FORMULA_START.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** One record with its line end. */
export const csvRecord = (cells: readonly (string | number)[]): string => `${cells.map(cell).join(',')}\r\n`;
