import type { Command } from 'commander';
import type { Progress } from '#billing/contracts/index.js';
import { printable, printableLines } from '#platform/text/printable.js';

/** A command that cannot do its work. Its message is one clear line for the operator; the exit code is 1. */
export class OpsError extends Error {
  override readonly name = 'OpsError';
}

/**
 * With `--json`, exactly one JSON value; without, text for people. Strangers' text reaches the terminal only as plain
 * text, without escape sequences or characters that hide or reorder their neighbours.
 * @param isBad ends the command with exit code 1
 */
export const print = (
  command: Command,
  value: object,
  text: string | readonly string[],
  isBad = false,
): void => {
  const { json } = command.optsWithGlobals<{ json?: boolean }>();
  const lines = printableLines([text].flat().join('\n'));
  process.stdout.write(`${json ? printable(JSON.stringify(value, bigintAsText)) : lines}\n`);
  if (isBad) process.exitCode = 1;
};

/** Writes a note or a failure in one line to standard error. */
export const tell = (text: string): void => {
  process.stderr.write(`${printableLines(text)}\n`);
};

/** Revisions and positions are decimal strings outside memory. */
const bigintAsText = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

/** Characters that fit on a line; without a limit when the output is no terminal. */
const terminalWidth = (): number => (process.stdout.isTTY ? process.stdout.columns : Infinity);

/** A table wider than the terminal becomes a block of `title: value` lines per row: shortened ids are useless. */
export const table = (
  head: readonly string[],
  body: readonly (readonly (string | number)[])[],
  width = terminalWidth(),
): string => {
  // Escape before measuring: a cell is one line.
  const rows = body.map((row) => row.map((cell) => (typeof cell === 'number' ? cell : printable(cell))));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => String(row[column]).length)),
  );
  const total = widths.reduce((sum, one) => sum + one, 2 * (widths.length - 1));
  if (total > width && rows.length > 0) return rows.map((row) => block(head, row)).join('\n\n');
  const line = (cells: readonly (string | number)[]): string =>
    cells
      .map((cell, column) =>
        typeof cell === 'number' ? String(cell).padStart(widths[column]!) : cell.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd();
  return [line(head), widths.map((one) => '-'.repeat(one)).join('  '), ...rows.map(line)].join('\n');
};

/** What a cell shows; nothing is an empty one. */
type Cell = string | number | bigint | null | undefined;

/** The columns of a table by their titles: each names a member of a row, or makes the cell. */
export type Columns<T> = Readonly<Record<string, keyof T | ((row: T) => Cell)>>;

/** The cells of a row, in the order of the columns. */
export const cellsOf = <T>(columns: Columns<T>, row: T): readonly (string | number)[] =>
  Object.values(columns).map((column) => {
    const cell = typeof column === 'function' ? column(row) : (row[column] as Cell);
    return typeof cell === 'number' ? cell : String(cell ?? '');
  });

/** {@link table} of rows. */
export const tableOf = <T>(rows: readonly T[], columns: Columns<T>): string =>
  table(
    Object.keys(columns),
    rows.map((row) => cellsOf(columns, row)),
  );

const block = (head: readonly string[], row: readonly (string | number)[]): string => {
  const widest = Math.max(...head.map((title) => title.length));
  return head.map((title, column) => `${title.padEnd(widest)}  ${row[column]}`.trimEnd()).join('\n');
};

/** Runs a long read with a progress bar on stderr, if that is a terminal. Output on stdout stays clean either way. */
export const withProgress = async <T>(
  label: string,
  work: (progress?: Progress) => Promise<T>,
): Promise<T> => {
  if (!process.stderr.isTTY) return work();
  // Loaded only for a terminal.
  const { SingleBar } = await import('cli-progress');
  const bar = new SingleBar({
    format: `${label} {bar} {percentage}% {eta_formatted}`,
    clearOnComplete: true,
  });
  bar.start(1, 0);
  try {
    return await work((done, total) => {
      bar.setTotal(total);
      bar.update(done);
    });
  } finally {
    bar.stop();
  }
};
