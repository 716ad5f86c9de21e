import type { Command } from 'commander';

/** With `--json`, exactly one JSON value; without, text for people. */
export const print = (command: Command, value: object, text: string): void => {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  process.stdout.write(`${json ? JSON.stringify(value, bigintAsText) : text}\n`);
};

/** Revisions and positions are decimal strings outside memory. */
const bigintAsText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

/** Columns padded to their widest cell; numbers to the right. */
export const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string => {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => String(row[column]).length)),
  );
  const line = (cells: readonly (string | number)[]): string =>
    cells
      .map((cell, column) =>
        typeof cell === 'number' ? String(cell).padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
};
