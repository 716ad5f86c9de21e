import type { Recovery } from './fault.js';

const HEAD = `| fault | what succeeds again | seconds | of these, until the other side serves | calls failed for |
|---|---|---|---|---|`;
const lineOf = ({ fault, measured, seconds, otherSide, failing }: Recovery): string =>
  `| ${fault} | ${measured} | ${seconds.toFixed(1)} | ${otherSide?.toFixed(1) ?? ''} | ${failing.toFixed(1)} |`;

/** @returns the table of these rows in Markdown */
export const recoveryTable = (rows: readonly Recovery[]): string => [HEAD, ...rows.map(lineOf)].join('\n');
