import type { Recovery } from './fault.js';

const HEAD = `| fault | what succeeds again | seconds | of these, until the other side serves | calls failed for |
|---|---|---|---|---|`;
const TABLE = /^\| fault \|.*\n\|(?:---\|)+\n((?:\|.*\n)*)/m;

const cells = (line: string): readonly string[] => line.split('|').slice(1, -1);
const keyOf = (line: string): string => cells(line).slice(0, 2).join('|');

const lineOf = ({ fault, measured, seconds, otherSide, failing }: Recovery): string =>
  `| ${fault} | ${measured} | ${seconds.toFixed(1)} | ${otherSide?.toFixed(1) ?? ''} | ${failing.toFixed(1)} |`;

/** @returns the table of these rows in Markdown */
export const recoveryTable = (rows: readonly Recovery[]): string => [HEAD, ...rows.map(lineOf)].join('\n');

/**
 * Replaces rows of a page's table by their first two cells, and adds new ones at its end.
 * @throws Error when the page has no such table
 */
export const withRecoveries = (page: string, rows: readonly Recovery[]): string => {
  const found = TABLE.exec(page);
  if (!found) throw new Error('The page has no table of recoveries');
  const lines = new Map(
    found[1]!
      .split('\n')
      .filter(Boolean)
      .map((line) => [keyOf(line), line]),
  );
  for (const row of rows) lines.set(keyOf(lineOf(row)), lineOf(row));
  return page.replace(found[0], `${[HEAD, ...lines.values()].join('\n')}\n`);
};
