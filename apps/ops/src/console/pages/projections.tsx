import { Count, Table } from '../../../../portal/src/frame/parts.js';
import { eventsBehind, projectionStates, verification } from '../../commands/projections/look.js';
import { LOOK_AGAIN, Mark, Said, Shows } from '../parts.js';
import { part, type ConsolePage, type ConsoleVisit } from '../visit.js';

const PARTS = 1_000;

export const projectionsPage: ConsolePage = {
  area: 'projections',
  show: async (visit) => {
    const { words, session, looks } = visit;
    const lags = await part(visit, looks.lags);
    const known = 'value' in lags ? lags.value : [];
    const states = await part(visit, () => projectionStates(session.pool, known));
    return {
      title: words.areas.projections,
      refreshSeconds: LOOK_AGAIN,
      body: (
        <>
          <p class="soft">{words.projectionsHint}</p>
          {'away' in lags && <Shows of={lags}>{() => null}</Shows>}
          <Shows of={states}>{(found) => <Versions visit={visit} states={found} />}</Shows>
        </>
      ),
    };
  },
};

const Versions = ({
  visit,
  states,
}: {
  readonly visit: ConsoleVisit;
  readonly states: Awaited<ReturnType<typeof projectionStates>>;
}) => {
  const { words } = visit;
  const rows = states.flatMap(({ projection, lag, versions }) =>
    versions.map((version) => ({
      ...version,
      projection,
      lag: version.state === 'live' ? lag : null,
      live: versions.find(({ state }) => state === 'live')?.position ?? null,
    })),
  );
  return (
    <Table
      caption={words.areas.projections}
      rows={rows}
      empty={words.noConsumers}
      columns={[
        { head: words.projection, cell: ({ projection }) => <code>{projection}</code> },
        { head: words.version, isNumber: true, cell: ({ version }) => version },
        {
          head: words.state,
          cell: ({ state, lag }) => (
            <Mark visit={visit} of={lag && lag.status !== 'running' ? lag.status : state} />
          ),
        },
        { head: words.behind, isNumber: true, cell: ({ lag }) => lag && eventsBehind(lag) },
        { head: words.states.parked, isNumber: true, cell: (one) => <Count of={one.parkedStreams} /> },
        { head: words.position, isNumber: true, cell: ({ position }) => String(position ?? '') },
        {
          head: words.verified,
          cell: (one) =>
            one.state === 'building' ? (
              <progress
                value={built(one.position, one.live)}
                max={PARTS}
                aria-label={`${words.progress}: ${one.projection}`}
              />
            ) : (
              <Said text={verification(one)} />
            ),
        },
      ]}
    />
  );
};

/** How far a version is on its way to the live one, by position in the log. */
const built = (position: bigint | null, live: bigint | null): number =>
  position === null || live === null || live === 0n ? 0 : Math.min(PARTS, Number((position * 1_000n) / live));
