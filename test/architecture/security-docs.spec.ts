import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { projectPath } from '#platform/project-path.js';

/** The specs that a page names: by path, or by file name when an earlier name on the line gives the folder. */
const namedIn = (page: string): readonly string[] => {
  const text = readFileSync(projectPath(page), 'utf8');
  return [...text.matchAll(/`([\w./-]+\.spec\.ts)`/g)].map(([, name]) => name!);
};

const attacks = readdirSync(projectPath('test/security')).filter((name) => name.endsWith('.spec.ts'));
const architecture = readdirSync(projectPath('test/architecture'));
const exists = (name: string): boolean =>
  name.includes('/') ? existsSync(projectPath(name)) : [...attacks, ...architecture].includes(name);

describe('the security documentation', () => {
  it('names tests that exist', () => {
    const named = namedIn('docs/security.md');
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !exists(name))).toEqual([]);
  });

  it('lists every attack of the suite', () => {
    const listed = namedIn('test/security/README.md').map((name) => basename(name));
    expect(attacks.filter((name) => !listed.includes(name))).toEqual([]);
  });
});
