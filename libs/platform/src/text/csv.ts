/** Characters that may start a formula in a spreadsheet (OWASP, CSV injection). */
const FORMULA_START = /^[=+\-@\t\r\n]/;

/**
 * A cell as in RFC 4180. Text that a spreadsheet would run as a formula gets a leading apostrophe, which makes it plain
 * text. Numbers stay unchanged.
 */
const cell = (value: string | number): string => {
  if (typeof value === 'number') return String(value);
  const safe = FORMULA_START.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** One record with its line end. */
export const csvRecord = (cells: readonly (string | number)[]): string => `${cells.map(cell).join(',')}\r\n`;
