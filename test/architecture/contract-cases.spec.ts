import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { projectPath } from '@app/platform/project-path.js';

const SUITE = projectPath('test', 'contract', 'event-store');
const readme = readFileSync(`${SUITE}/README.md`, 'utf8');
/** Each of the numbered behaviours has a case. */
const BEHAVIOURS = 19;

const rows = [...readme.matchAll(/^\| (\d+) +\| [^|]+\| `([\w-]+)` +\| `(.+)` +\|$/gm)].map(
  ([, number, spec, name]) => ({ number: Number(number), spec: spec!, name: name! }),
);

/** A case that is switched off everywhere is none. */
const casesOf = (spec: string): readonly string[] => {
  const file = `${SUITE}/${spec}.spec.ts`;
  if (!existsSync(file)) return [];
  const cases = /\b(?:it|it\.skip\)|itWith\w+)(?:\.each\(.*?\]\s*(?:as const)?,?\s*\))?\(\s*'([^']+)'/gs;
  return [...readFileSync(file, 'utf8').matchAll(cases)].map(([, name]) => name!);
};

describe('the contract of the event store', () => {
  it('has a case for each behaviour that its README numbers', () => {
    const numbers = [...new Set(rows.map(({ number }) => number))];
    expect(numbers).toEqual(Array.from({ length: BEHAVIOURS }, (_, at) => at + 1));
  });

  it.each(rows)('has the case of behaviour $number: $spec, $name', ({ spec, name }) => {
    expect(casesOf(spec)).toContain(name);
  });

  it('differs on purpose from EventStoreDB in one thing alone', () => {
    const [, differences = ''] = readme.split('\n## Wanted differences\n');
    expect([...differences.matchAll(/^- (\d+): /gm)].map(([, number]) => number)).toEqual(['16']);
  });
});
