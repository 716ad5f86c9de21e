import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { projectPath } from '@app/platform/project-path.js';

/** Specifications that a page names: by path, or by name when the folder stands before another on the same line. */
const namedIn = (page: string): readonly string[] => {
  const text = readFileSync(projectPath(page), 'utf8');
  return [...text.matchAll(/`([\w./-]+\.spec\.ts)`/g)].map(([, name]) => name!);
};

const attacks = readdirSync(projectPath('test/security')).filter((name) => name.endsWith('.spec.ts'));
const architecture = readdirSync(projectPath('test/architecture'));
const exists = (name: string): boolean =>
  name.includes('/') ? existsSync(projectPath(name)) : [...attacks, ...architecture].includes(name);

describe('what is promised about security', () => {
  it('names tests that exist', () => {
    const named = namedIn('docs/security.md');
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !exists(name))).toEqual([]);
  });

  it('has every attack of the suite on its page', () => {
    const listed = namedIn('test/security/README.md').map((name) => basename(name));
    expect(attacks.filter((name) => !listed.includes(name))).toEqual([]);
  });
});
