import type { Command } from 'commander';
import { RemakeDocuments, type RemadeVersion } from '#publishing/contracts/index.js';
import { GetReadingResult } from '#readings/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import { print, table, tell } from '../../output.js';
import { withProgress } from '../../progress.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../../session.js';
import { FIRST_READING, lostDocuments } from './lost-documents.js';

/** Published versions compared with one statement. */
const PAGE = 2_000;

type Remade = RemadeVersion & { readonly readingId: string };

const ADVICE: Partial<Record<RemadeVersion['outcome'], string>> = {
  texts_changed:
    'Made from other texts than this version of the service has. Use that version, or publish another one.',
  renders_differently:
    'This version of the service typesets it otherwise. Use the one that made it, or publish another one.',
};

export const addRemake = (publications: Command): void => {
  publications
    .command('remake [readingIds...]')
    .description('make lost documents again, with the same bytes; without --yes, only show which can be')
    .option('--all', 'every lost document')
    .option('--yes', 'store them')
    .addHelpText(
      'after',
      `
A document is lost when rows of publishing.artifact were deleted. It is stored again only when its digest is the
published one; nothing is announced. Exit code 1 when one cannot be made again.

Examples:
  ops publications remake --all
  ops publications remake 7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11 --yes --json`,
    )
    .action(async (ids: string[], options: { all?: true; yes?: true }, command: Command) => {
      if ((ids.length === 0) === (options.all === undefined))
        throw new OpsError('Name the readings, or remake --all.');
      const yes = options.yes ?? false;
      const versions = await withSession((session) => remake(session, ids, !yes), HARMLESS_TO_REPEAT);
      print(command, { versions, dryRun: !yes }, list(versions));
      for (const outcome of new Set(versions.map((one) => one.outcome))) {
        const advice = ADVICE[outcome];
        if (advice !== undefined) tell(`${outcome}: ${advice}`);
      }
      if (!yes && versions.some(({ outcome }) => outcome === 'remade')) tell('Add --yes to store them.');
      if (versions.some(({ outcome }) => outcome !== 'remade')) process.exitCode = 1;
    });
};

const remake = (session: Session, ids: readonly string[], dryRun: boolean): Promise<readonly Remade[]> =>
  withProgress('documents', async (progress) => {
    const chosen = ids.length > 0 ? ids : await readingsWithLost(session);
    const made: Remade[] = [];
    for (const [index, readingId] of chosen.entries()) {
      const result = await session.queries.execute(new GetReadingResult(readingId));
      if (!result && ids.length > 0)
        throw new OpsError(
          `The result of ${readingId} cannot be read: there is no such completed reading, or it was erased.`,
        );
      if (!result) continue;
      const versions = await session.commands.execute(new RemakeDocuments(readingId, result.bytes, dryRun));
      made.push(...versions.map((one) => ({ readingId, ...one })));
      progress?.(index + 1, chosen.length);
    }
    return made;
  });

const readingsWithLost = async ({ pool }: Session): Promise<readonly string[]> => {
  const found = new Set<string>();
  for (let after: string | null = FIRST_READING; after !== null;) {
    const { lost, last } = await lostDocuments(pool, after, PAGE);
    for (const { readingId } of lost) found.add(readingId);
    after = last;
  }
  return [...found];
};

const list = (versions: readonly Remade[]): string =>
  versions.length === 0
    ? 'No document is lost.'
    : table(
        ['reading', 'version', 'lost', 'texts', 'outcome'],
        versions.map(({ readingId, version, lost, contentVersion, outcome }) => [
          readingId,
          version,
          lost.join(', '),
          contentVersion ?? 'unknown',
          outcome,
        ]),
      );
