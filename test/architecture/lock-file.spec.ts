import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectPath } from '#platform/project-path.js';

interface Entry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
}

const entriesOf = (file: string): readonly [string, Entry][] => {
  const { packages } = JSON.parse(readFileSync(projectPath(file), 'utf8')) as {
    packages: Record<string, Entry>;
  };
  return Object.entries(packages).filter(([path]) => path !== '');
};

describe.each(['package-lock.json', 'test/generators/package-lock.json'])('%s', (file) => {
  const entries = entriesOf(file);

  it('has the SHA-512 of every package, including those for other platforms', () => {
    expect(entries.length).toBeGreaterThan(500);
    expect(entries.filter(([, { link }]) => link).map(([path]) => path)).toEqual([]);
    const unverified = entries.filter(
      ([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
    );
    expect(unverified.map(([path]) => path)).toEqual([]);
  });

  it('contains no download addresses, so that each installation chooses its registry', () => {
    expect(entries.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  });
});
