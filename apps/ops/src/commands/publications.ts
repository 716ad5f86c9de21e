import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { ownRequest } from '#platform/cqrs/own-request.js';
import {
  CONTENT_VERSION,
  DOCUMENT_FORMATS,
  RemakeDocuments,
  RepublishDocument,
  type RemadeVersion,
  type RepublishResult,
} from '#publishing/contracts/index.js';
import { GetReadingResult } from '#readings/contracts/index.js';
import { OpsError, print, tableOf, tell } from '../output.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../session.js';
import { example, someText, wholeNumber } from './options.js';

/** The operator's commands for documents: publish again from new texts, make lost ones again. */
const addPublicationsCommands = (publications: Command): void => {
  publications
    .command('republish')
    .description('publish documents again from the current texts; without --yes, only count them')
    .requiredOption(
      '--content-version <version>',
      `their present texts, or ${UNKNOWN}: not recorded`,
      someText,
    )
    .option('--workspace <id>', 'only of this workspace', someText)
    .option('--rate <n>', 'requests a second, at most', wholeNumber, PER_SECOND)
    .option('--limit <n>', 'readings, at most', wholeNumber)
    .option('--yes', 'publish them')
    .addHelpText(
      'after',
      `
Earlier versions stay readable, reading.published is sent for each new one, and it costs no credits. Run the command
again after an interruption: it continues with those that are left.`,
    )
    .action(async (options: Options, command: Command) => {
      const { contentVersion, yes } = options;
      if (contentVersion === CONTENT_VERSION)
        throw new OpsError(`${CONTENT_VERSION} are the current texts. Name those to be replaced.`);
      const done = await withSession((session) => republish(session, options), HARMLESS_TO_REPEAT);
      const value = { ...done, contentVersion, to: CONTENT_VERSION, dryRun: !yes };
      print(command, value, sentence(done, yes ?? false));
    });

  publications
    .command('remake [readingIds...]')
    .description('make lost documents again, with the same bytes; without --yes, only show which can be')
    .option('--all', 'every lost document')
    .option('--yes', 'store them')
    .addHelpText('after', example('publications remake --all --yes'))
    .action(async (ids: string[], options: { all?: true; yes?: true }, command: Command) => {
      if ((ids.length === 0) === (options.all === undefined))
        throw new OpsError('Name the readings, or remake --all.');
      const yes = options.yes ?? false;
      const versions = await withSession((session) => remake(session, ids, !yes), HARMLESS_TO_REPEAT);
      const isLeft = versions.some(({ outcome }) => outcome !== 'remade');
      print(command, { versions, dryRun: !yes }, list(versions), isLeft);
      for (const outcome of new Set(versions.map((one) => one.outcome))) {
        const advice = ADVICE[outcome];
        if (advice !== undefined) tell(`${outcome}: ${advice}`);
      }
      if (!yes && versions.some(({ outcome }) => outcome === 'remade')) tell('Add --yes to store them.');
    });
};

export const FIRST_READING = '00000000-0000-0000-0000-000000000000';

/**
 * Published versions that lack formats although their readings were not erased. By index only. A reading without a key was.
 * @param after a reading @param limit published versions to look at
 * @returns `last`: the last reading looked at; `null` at the end of the table
 */
export const lostDocuments = async (pool: Pool, after: string, limit: number) => {
  const { rows } = await pool.query<{ reading_id: string; version: number; is_lost: boolean }>(
    `select reading_id, version,
            (select count(*) from publishing.artifact
             where artifact.reading_id = page.reading_id and artifact.version = page.version) < $3
              and exists (select from platform.subject_key where subject_id = page.reading_id) as is_lost
     from (select reading_id, version from publishing.publication
           where published_at is not null and reading_id > $1 order by reading_id, version limit $2) as page`,
    [after, limit, DOCUMENT_FORMATS.length],
  );
  const last = rows.at(-1)?.reading_id ?? null;
  // A page may end between the versions of a reading: the next one looks at all of them.
  const whole = rows.length < limit ? rows : rows.filter(({ reading_id }) => reading_id !== last);
  return {
    lost: whole
      .filter(({ is_lost }) => is_lost)
      .map(({ reading_id: readingId, version }) => ({ readingId, version })),
    last: rows.length < limit ? null : (whole.at(-1)?.reading_id ?? last),
  };
};

interface Options {
  readonly contentVersion: string;
  readonly workspace?: string;
  readonly rate: number;
  readonly limit?: number;
  readonly yes?: true;
}

/** What `--content-version` says for documents of workers that did not record theirs. */
const UNKNOWN = 'unknown';
const PER_SECOND = 5;
/** Readings, or published versions, read with one statement. */
const PAGE = 2_000;

/** What became of the readings whose newest document is from these texts, by outcome. */
type Done = Readonly<Record<'found' | 'requested' | 'underWay' | 'tooManyVersions' | 'erased', number>>;

const republish = async (session: Session, options: Options): Promise<Done> => {
  const { pool, requireWorkspace } = session;
  const { workspace = null, rate, limit = Infinity, yes } = options;
  if (workspace !== null) await requireWorkspace(workspace);
  const done = { found: 0, requested: 0, underWay: 0, tooManyVersions: 0, erased: 0 };
  for await (const { readingId, workspaceId } of chosenReadings(pool, options)) {
    if (done.found >= limit) break;
    done.found += 1;
    if (!yes) continue;
    const choice = { onlyIfTextsChanged: options.contentVersion !== UNKNOWN };
    const request = new RepublishDocument(readingId, workspaceId, choice, ownRequest(session.actor));
    const { outcome } = await session.commands.execute(request);
    done[COUNTED_AS[outcome]] += 1;
    await delay(1_000 / rate);
  }
  return done;
};

const COUNTED_AS: Readonly<Record<RepublishResult['outcome'], keyof Done>> = {
  requested: 'requested',
  under_way: 'underWay',
  unchanged: 'underWay',
  too_many_versions: 'tooManyVersions',
  erased: 'erased',
};

interface Reading {
  readonly readingId: string;
  readonly workspaceId: string;
  /** It is of the named workspace, its newest version is from the named texts, and it was not erased. */
  readonly isChosen: boolean;
}

/** Pages of all readings, also when a workspace is named: it has no index. */
async function* chosenReadings(pool: Pool, { contentVersion, workspace }: Options): AsyncGenerator<Reading> {
  for (let after = FIRST_READING; ;) {
    const { rows } = await pool.query<Reading>(
      `select reading_id as "readingId", workspace_id as "workspaceId",
              ($2::text is null or workspace_id = $2) and content_version is not distinct from $3
                and exists (select from platform.subject_key where subject_id = reading_id) as "isChosen"
       from (select distinct on (reading_id) reading_id, workspace_id, content_version
             from publishing.publication
             where published_at is not null and reading_id > $1
             order by reading_id, version desc limit ${PAGE}) as newest
       order by reading_id`,
      [after, workspace ?? null, contentVersion === UNKNOWN ? null : contentVersion],
    );
    yield* rows.filter(({ isChosen }) => isChosen);
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.readingId;
  }
}

const sentence = (done: Done, yes: boolean): string => {
  if (!yes) return `${done.found} documents would be published again: add --yes to do it.`;
  const rest = [
    done.underWay > 0 && `${done.underWay} were being made already`,
    done.tooManyVersions > 0 && `${done.tooManyVersions} have as many versions as they may`,
    done.erased > 0 && `${done.erased} were erased`,
  ].filter((one) => one !== false);
  return [`${done.requested} versions requested`, ...rest].join('; ') + '.';
};

type Remade = RemadeVersion & { readonly readingId: string };

const ADVICE: Partial<Record<RemadeVersion['outcome'], string>> = {
  texts_changed:
    'Made from other texts than this version of the service has. Use that version, or publish another one.',
  renders_differently:
    'This version of the service typesets it otherwise. Use the one that made it, or publish another one.',
};

const remake = async (
  session: Session,
  ids: readonly string[],
  dryRun: boolean,
): Promise<readonly Remade[]> => {
  const chosen = ids.length > 0 ? ids : await readingsWithLost(session);
  const made: Remade[] = [];
  for (const readingId of chosen) {
    const result = await session.queries.execute(new GetReadingResult(readingId));
    if (!result && ids.length > 0)
      throw new OpsError(
        `The result of ${readingId} cannot be read: there is no such completed reading, or it was erased.`,
      );
    if (!result) continue;
    const versions = await session.commands.execute(new RemakeDocuments(readingId, result.bytes, dryRun));
    made.push(...versions.map((one) => ({ readingId, ...one })));
  }
  return made;
};

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
    : tableOf(versions, {
        reading: 'readingId',
        version: 'version',
        lost: ({ lost }) => lost.join(', '),
        texts: ({ contentVersion }) => contentVersion ?? 'unknown',
        outcome: 'outcome',
      });

export const commands = { publications: addPublicationsCommands };
