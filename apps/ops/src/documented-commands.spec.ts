import { expect, it } from '@jest/globals';
import { Command, type Option } from 'commander';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectPath } from '#platform/project-path.js';
import { TOP_COMMANDS } from './run.js';

interface Typed {
  readonly place: string;
  readonly words: readonly string[];
  /** Of a block, to be pasted; a sentence names what matters. */
  readonly isWhole: boolean;
}

const DOCS = projectPath('docs');
const PAGES = ['README.md', ...readdirSync(DOCS, { recursive: true, encoding: 'utf8' })]
  .filter((name) => name.endsWith('.md') && !name.startsWith('adr'))
  .map((name) => (name === 'README.md' ? projectPath(name) : join(DOCS, name)));

/** Of a line of a shell, without comments, substitutions and what follows in a pipe. */
const wordsOf = (line: string): readonly string[] =>
  [...line.replace(/\s[#|>].*$/, '').matchAll(/"[^"]*"|'[^']*'|[^\s"']+/g)].map(([word]) => word);

/** What a page has people type: in its blocks, where a backslash continues a line, and as code within its sentences. */
const typedIn = (path: string): readonly Typed[] => {
  const text = readFileSync(path, 'utf8').replaceAll(/\\\n\s*/g, ' ');
  const blocks = text.matchAll(/^ *(?:npm run -s ops -- |ops )([a-z].*)$/gm);
  const within = text.matchAll(/`ops ([a-z][^`]*)`/g);
  const typed =
    (isWhole: boolean) =>
    ([, line = '']: RegExpExecArray): Typed => ({
      place: `${path.slice(projectPath().length)}: ops ${line.replaceAll(/\s+/g, ' ')}`,
      words: wordsOf(line),
      isWhole,
    });
  return [...[...blocks].map(typed(true)), ...[...within].map(typed(false))];
};

const tree = async (): Promise<Command> => {
  const ops = new Command('ops');
  for (const { name, load } of TOP_COMMANDS) (await load())(ops.command(name));
  return ops;
};

/** The command that the words name, and the words after it. */
const found = (ops: Command, words: readonly string[]): readonly [Command, readonly string[]] => {
  const [first, ...rest] = words;
  const next = ops.commands.find((one) => one.name() === first || one.aliases().includes(first!));
  return next ? found(next, rest) : [ops, words];
};

const faultsOf = (ops: Command, { place, words, isWhole }: Typed): readonly string[] => {
  const [command, given] = found(ops, words);
  if (command === ops) return [`${place}: no such command`];
  if (command.commands.length > 0 && given.length > 0 && /^[a-z]/.test(given[0]!))
    return [`${place}: no such subcommand`];
  const options = given.filter((word) => /^--[a-z]/.test(word) && word !== '--json' && word !== '--help');
  const known = (long: string): Option | undefined =>
    command.options.find((option) => option.long === long || option.long === long.replace(/^--no-/, '--'));
  const unknown = options.filter((word) => !known(word.split('=')[0]!));
  const missing = command.options.filter(
    ({ mandatory, long }) => mandatory && isWhole && !options.includes(long!),
  );
  return [...unknown, ...missing.map(({ long }) => `${long} is missing`)].map(
    (fault) => `${place}: ${fault}`,
  );
};

it('Every command that the documentation has people type exists, with its options', async () => {
  const ops = await tree();
  const typed = PAGES.flatMap(typedIn);
  expect(typed.length).toBeGreaterThan(100);
  expect(typed.flatMap((one) => faultsOf(ops, one))).toEqual([]);
});

it('A misspelt command, one of its options, or one without what it needs would be found', async () => {
  const ops = await tree();
  const faults = (line: string) => faultsOf(ops, { place: 'here', words: wordsOf(line), isWhole: true });
  expect(faults('ledger verifie --all')).toEqual(['here: no such subcommand']);
  expect(faults('ledgers')).toEqual(['here: no such command']);
  expect(faults('ledger verify --al')).toEqual(['here: --al']);
  expect(faults('key issue --label x')).toEqual(['here: --workspace is missing']);
  expect(faults('ledger verify --all --json # all of them')).toEqual([]);
});
