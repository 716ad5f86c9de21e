import type { Command } from 'commander';
import { consumerLag, type ConsumerLag } from '#event-sourcing/projections/consumer-lag.js';
import { categoriesOf, checkpointOf, type Projection } from '#event-sourcing/projections/projection.js';
import { versionsOf, type Version } from '#event-sourcing/rebuilding/versions.js';
import { OPERATIONAL_TABLES } from '../../../../service/src/modules.js';
import { print, table } from '../../output.js';
import { PROJECTIONS, requireProjection } from '../../projections.js';
import { withSession, type Session } from '../../session.js';
import { wholeNumber } from '../options.js';

export const addList = (projections: Command): void => {
  projections
    .command('list')
    .description('the projections, their tables, and the tables that no event can rebuild (operational)')
    .addHelpText('after', '\nExample:\n  ops projections list --json')
    .action((_: object, command: Command) => {
      const known = PROJECTIONS.map((projection) => ({
        name: projection.name,
        tables: projection.views.map((view) => view.table),
        follows: categoriesOf(projection),
        keptBy: checkpointOf(projection),
      }));
      const text = [
        table(
          ['projection', 'tables', 'follows', 'kept by'],
          known.map(({ name, tables, follows, keptBy }) => [
            name,
            tables.join(' '),
            follows.join(' '),
            keptBy === name ? '' : keptBy,
          ]),
        ),
        '',
        table(['operational table', 'what it holds'], Object.entries(OPERATIONAL_TABLES)),
      ];
      print(command, { projections: known, operational: OPERATIONAL_TABLES }, text.join('\n'));
    });
};

export const addStatus = (projections: Command): void => {
  projections
    .command('status')
    .description('the versions of each projection, their positions, and whether they were verified')
    .argument('[name]', 'one projection; default: all')
    .addHelpText(
      'after',
      '\nExamples:\n  ops projections status\n  ops projections status billing.balance.v1',
    )
    .action(async (name: string | undefined, _: object, command: Command) => {
      const chosen = name === undefined ? PROJECTIONS : [requireProjection(name)];
      const found = await withSession(async ({ pool, store }) =>
        projectionStates(pool, await consumerLag(pool, store), chosen),
      );
      const rows = found.flatMap(({ projection, lag, versions }) =>
        versions.map((version) => [
          projection,
          `v${version.version}`,
          version.state === 'live' ? `live, ${lag?.status ?? 'never run'}` : version.state,
          String(version.position ?? ''),
          version.state === 'live' && lag ? eventsBehind(lag) : '',
          verification(version),
          version.parkedStreams,
        ]),
      );
      const head = ['projection', 'version', 'state', 'position', 'behind', 'verified', 'parked'];
      print(command, { projections: found }, table(head, rows));
    });
};

export const addLag = (projections: Command): void => {
  projections
    .command('lag')
    .description('how far each projection and process is behind the log, in events and seconds')
    .option(
      '--max-seconds <n>',
      'exit with 1 when one is further behind, halted, or beyond the end of the log',
      wholeNumber,
    )
    .addHelpText(
      'after',
      '\nExamples:\n  ops projections lag\n  ops projections lag --max-seconds 30 || page-someone',
    )
    .action(async ({ maxSeconds }: { maxSeconds?: number }, command: Command) => {
      const consumers = await withSession(({ pool, store }) => consumerLag(pool, store));
      const rows = consumers.map((lag) => [
        lag.consumer,
        lag.status,
        String(lag.position ?? ''),
        eventsBehind(lag),
        lag.seconds.toFixed(1),
        lag.parkedStreams,
      ]);
      const head = ['consumer', 'status', 'position', 'events behind', 'seconds behind', 'parked streams'];
      print(command, { consumers }, table(head, rows));
      const late = consumers.some(
        ({ seconds, status }) => seconds > (maxSeconds ?? 0) || status !== 'running',
      );
      if (maxSeconds !== undefined && late) process.exitCode = 1;
    });
};

/** The versions of projections, each with the lag of the consumer that keeps its live rows. */
export const projectionStates = (
  pool: Session['pool'],
  lags: readonly ConsumerLag[],
  chosen: readonly Projection[] = PROJECTIONS,
) =>
  Promise.all(
    chosen.map(async (projection) => ({
      projection: projection.name,
      lag: lagOf(lags, checkpointOf(projection)),
      versions: await versionsOf(pool, projection),
    })),
  );

/** `12`, or `10000+` if there may be more. */
export const eventsBehind = ({ events, atLeast }: ConsumerLag): string => `${events}${atLeast ? '+' : ''}`;

const lagOf = (lags: readonly ConsumerLag[], name: string): ConsumerLag | null =>
  lags.find(({ consumer }) => consumer === name) ?? null;

export const verification = ({
  verifiedPosition,
  differences,
}: Pick<Version, 'verifiedPosition' | 'differences'>): string => {
  if (verifiedPosition === null) return '';
  return differences === 0 ? `equal at ${verifiedPosition}` : `${differences} rows differ`;
};
