import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { ownRequest } from '#platform/cqrs/own-request.js';
import { CONTENT_VERSION, RepublishDocument, type RepublishResult } from '#publishing/contracts/index.js';
import { OpsError } from '../../ops-error.js';
import { print } from '../../output.js';
import { withProgress } from '../../progress.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../../session.js';
import { someText, wholeNumber } from '../options.js';
import { FIRST_READING } from './lost-documents.js';

interface Options {
  readonly contentVersion: string;
  readonly workspace?: string;
  readonly rate: number;
  readonly limit?: number;
  readonly dryRun?: true;
  readonly yes?: true;
}

/** What `--content-version` says for documents of workers that did not record theirs. */
const UNKNOWN = 'unknown';
const PER_SECOND = 5;
/** Readings read with one statement. */
const PAGE = 2_000;
/** Rows counted in one statement: a tenth of a second. */
const COUNTED = 50_000;
/** Most versions that may wait for workers. Then the command waits too. */
const MOST_WAITING = 200;
const LOOK_AGAIN_MS = 500;

export const addRepublish = (publications: Command): void => {
  publications
    .command('republish')
    .description(
      'publish another version of many documents from the current texts; without --yes, only count them',
    )
    .requiredOption(
      '--content-version <version>',
      `the texts of their newest version, such as 2026.11.2; ${UNKNOWN}: not recorded`,
      someText,
    )
    .option('--workspace <id>', 'only of this workspace', someText)
    .option('--rate <n>', 'requests a second, at most', wholeNumber, PER_SECOND)
    .option('--limit <n>', 'readings, at most', wholeNumber)
    .option('--dry-run', 'only count them, as without --yes')
    .option('--yes', 'publish them')
    .addHelpText(
      'after',
      `
Earlier versions stay readable, reading.published is sent for each new one, and it costs no credits. Run the command
again after an interruption: it continues with those that are left. It waits while workers have ${MOST_WAITING} to make.

Examples:
  ops publications republish --content-version 2026.11.2 --dry-run
  ops publications republish --content-version 2026.11.2 --workspace ws_… --rate 2 --yes`,
    )
    .action(async (options: Options, command: Command) => {
      const { contentVersion, dryRun, yes } = options;
      if (contentVersion === CONTENT_VERSION)
        throw new OpsError(`${CONTENT_VERSION} are the current texts. Name those to be replaced.`);
      if (dryRun && yes) throw new OpsError('Choose --dry-run or --yes.');
      const done = await withSession((session) => republish(session, options), HARMLESS_TO_REPEAT);
      print(
        command,
        { ...done, contentVersion, to: CONTENT_VERSION, dryRun: !yes },
        sentence(done, yes ?? false),
      );
    });
};

interface Done {
  /** Readings whose newest document is from these texts. */
  readonly found: number;
  readonly requested: number;
  /** A version was being made already. */
  readonly underWay: number;
  /** Have as many versions as they may have. */
  readonly tooManyVersions: number;
  /** Erased meanwhile, or their key is gone. */
  readonly erased: number;
}

const republish = async (session: Session, options: Options): Promise<Done> => {
  const { pool, requireWorkspace } = session;
  const { workspace = null, rate, limit = Infinity, yes } = options;
  if (workspace !== null) await requireWorkspace(workspace);
  const done = { found: 0, requested: 0, underWay: 0, tooManyVersions: 0, erased: 0 };
  await withProgress('documents', async (progress) => {
    const total = await countReadings(pool);
    let looked = 0;
    for await (const page of pages(pool, options)) {
      for (const { readingId, workspaceId, isChosen } of page) {
        looked += 1;
        if (!isChosen) continue;
        if (done.found >= limit) return;
        done.found += 1;
        if (yes) {
          await untilRoom(pool, done.requested);
          const answer = await session.commands.execute(
            new RepublishDocument(
              readingId,
              workspaceId,
              { onlyIfTextsChanged: options.contentVersion !== UNKNOWN },
              ownRequest(session.actor),
            ),
          );
          count(done, answer);
          await delay(1_000 / rate);
        }
      }
      progress?.(looked, Math.max(total, looked));
    }
  });
  return done;
};

const count = (done: { -readonly [K in keyof Done]: Done[K] }, { outcome }: RepublishResult): void => {
  switch (outcome) {
    case 'requested':
      done.requested += 1;
      return;
    case 'under_way':
    case 'unchanged':
      done.underWay += 1;
      return;
    case 'too_many_versions':
      done.tooManyVersions += 1;
      return;
    case 'erased':
      done.erased += 1;
  }
};

interface Reading {
  readonly readingId: string;
  readonly workspaceId: string;
  /** It is of the named workspace, its newest version is from the named texts, and it was not erased. */
  readonly isChosen: boolean;
}

/** All readings, also when a workspace is named: it has no index, and a page of a few among millions would take too long. */
async function* pages(
  pool: Pool,
  { contentVersion, workspace }: Options,
): AsyncGenerator<readonly Reading[]> {
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
    yield rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.readingId;
  }
}

/** For the progress. In pages: among millions, one statement would take longer than it may. */
const countReadings = async (pool: Pool): Promise<number> => {
  let total = 0;
  let after: string | null = FIRST_READING;
  do {
    const { rows }: { rows: { n: number; last: string | null }[] } = await pool.query(
      `with page as materialized (
         select reading_id, version = 1 and published_at is not null as counts
         from publishing.publication where reading_id > $1 order by reading_id, version limit ${COUNTED}
       )
       select count(*) filter (where counts)::int as n,
              (select reading_id from page order by reading_id desc limit 1) as last from page`,
      [after],
    );
    total += rows[0]!.n;
    after = rows[0]!.last;
  } while (after !== null);
  return total;
};

/** Looks only now and then: one request adds one. */
const untilRoom = async (pool: Pool, requested: number): Promise<void> => {
  if (requested % (MOST_WAITING / 4) !== 0) return;
  for (;;) {
    const { rows } = await pool.query<{ n: number }>(
      'select count(*)::int as n from publishing.republication',
    );
    if (rows[0]!.n < MOST_WAITING) return;
    await delay(LOOK_AGAIN_MS);
  }
};

const sentence = (done: Done, yes: boolean): string => {
  if (!yes) return `${done.found} documents would be published again: add --yes to do it.`;
  const rest = [
    done.underWay > 0 && `${done.underWay} were being made already`,
    done.tooManyVersions > 0 && `${done.tooManyVersions} have as many versions as they may`,
    done.erased > 0 && `${done.erased} were erased`,
  ].filter((one) => one !== false);
  return [`${done.requested} versions requested`, ...rest].join('; ') + '.';
};
