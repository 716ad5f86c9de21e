import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import type { z } from 'zod';
import { shownValue } from '#platform/config/load-config.js';
import { projectPath } from '#platform/project-path.js';
import { settings as platform } from '#platform/config/settings.js';
import { MODULES } from '../../apps/service/src/modules.js';

const PAGE = projectPath('docs/settings.md');

const INTRODUCTION = `# Settings

Every program reads its settings from environment variables and checks all of them before it starts. A fault names the
variable and what it allows. \`--help\` of a program prints the same list. An empty value, or one of space, counts as none.
Numbers are whole, in decimal digits. The longest timer has 2,147,483,647 ms (24 days), and other terms end at 36,500
days. One that is “required” has no default; with \`npm start\`, the embedded stack gives it.
`;

type Shape = Readonly<Record<string, z.ZodType>>;

const defaultOf = (schema: z.ZodType): string => {
  const { success, data } = schema.safeParse(undefined);
  if (!success) return 'required';
  if (data === undefined || data === '' || (Array.isArray(data) && data.length === 0)) return '';
  if (typeof data === 'boolean') return data ? '`1`' : '`0`';
  return `\`${shownValue(data)}\``;
};

const tableOf = (title: string, shape: Shape): string => {
  const rows = Object.entries(shape).map(([name, schema]) => {
    const meaning = (schema.description ?? '').replaceAll('|', '\\|');
    return `| \`${name}\` | ${defaultOf(schema)} | ${meaning} |`;
  });
  return [`## ${title}`, '', '| setting | default | meaning |', '|---|---|---|', ...rows, ''].join('\n');
};

const page = [
  INTRODUCTION,
  tableOf('All programs', platform.shape),
  ...MODULES.map(({ name, settings }) =>
    tableOf(`${name.charAt(0).toUpperCase()}${name.slice(1)}`, settings as Shape),
  ).filter((table) => table.includes('| `')),
].join('\n');

it('docs/settings.md has every setting with its default and meaning (SETTINGS_UPDATE=1 writes it)', () => {
  if (process.env['SETTINGS_UPDATE']) writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});

it('Every setting has a meaning', () => {
  const all: Shape = Object.assign({}, platform.shape, ...MODULES.map(({ settings }) => settings));
  expect(Object.keys(all).filter((name) => !all[name]!.description)).toEqual([]);
});
