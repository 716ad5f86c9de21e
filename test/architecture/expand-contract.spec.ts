import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { projectPath } from '#platform/project-path.js';

/**
 * Migrations run before processes of the previous version have stopped, so those must keep working: a migration only
 * adds (CONTRIBUTING.md, "How to change a table"). What takes away is named here, with the reason why it breaks nobody.
 */
const CONTRACTIONS: Readonly<Record<string, string>> = {};

/** What may break a reader or a writer of the version before, in statements about tables that were there before. */
const RULES: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['drop table', /\bdrop table\b/],
  [
    'drop column',
    /\bdrop (column )?(?!not null|default|index|table|trigger|function|constraint|schema|policy)\w/,
  ],
  ['drop trigger', /\bdrop trigger\b/],
  ['drop function', /\bdrop (function|procedure|routine)\b/],
  ['drop constraint', /\bdrop constraint\b/],
  ['rename', /\brename\b/],
  ['change of type', /\balter (column )?\w+ (set data )?type\b/],
  ['set not null', /\bset not null\b/],
  ['new column without default', /\badd (column )?(?!constraint)[^,]*\bnot null\b(?![^,]*\bdefault\b)/],
  ['new constraint', /\badd constraint\b/],
  ['new unique index', /\bcreate unique index\b/],
  ['new trigger', /\bcreate trigger\b/],
];

interface Statement {
  readonly migration: string;
  readonly text: string;
}

/** The statements of the part that is applied, without comments. */
const statementsOf = (migration: string, file: string): readonly Statement[] => {
  const up = file.split(/^-- Down Migration/m)[0]!.replace(/--.*$/gm, '');
  return up
    .split(';')
    .map((text) => ({ migration, text: text.replace(/\s+/g, ' ').trim().toLowerCase() }))
    .filter(({ text }) => text !== '');
};

/** Rules that a migration breaks, as `<migration> <rule>`. No older process knows a table that it creates itself. */
const contractionsOf = (migration: string, file: string): readonly string[] => {
  const statements = statementsOf(migration, file);
  const namedBy = (pattern: RegExp): readonly string[] =>
    statements.flatMap(({ text }) => pattern.exec(text)?.[1] ?? []);
  const dropped = namedBy(/^drop table (?:if exists )?(\S+)/);
  const own = namedBy(/^create table (?:if not exists )?(\S+)/).filter((table) => !dropped.includes(table));
  const isOwn = (text: string): boolean => own.some((table) => text.includes(` ${table}`));
  return [
    ...new Set(
      statements
        .filter(({ text }) => !isOwn(text) && !text.startsWith('create table'))
        .flatMap(({ text }) => RULES.filter(([, pattern]) => pattern.test(text)))
        .map(([rule]) => `${migration} ${rule}`),
    ),
  ];
};

const migrations = readdirSync(projectPath('libs')).flatMap((library) => {
  const folder = projectPath('libs', library, 'migrations');
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.sql'))
      .map((name) => [`${library}/${name.slice(0, -'.sql'.length)}`, `${folder}/${name}`] as const);
  } catch {
    return [];
  }
});

describe('migrations', () => {
  it('take nothing away that processes of the previous version need', () => {
    const found = migrations.flatMap(([name, path]) => contractionsOf(name, readFileSync(path, 'utf8')));
    expect(migrations.length).toBeGreaterThanOrEqual(7);
    expect(found.toSorted()).toEqual(Object.keys(CONTRACTIONS).toSorted());
  });

  it('that break a rule are found', () => {
    const planted = 'alter table billing.balance add column a text, drop held;';
    expect(contractionsOf('m', planted)).toEqual(['m drop column']);
  });
});
