import type { ComponentChildren } from 'preact';
import { stoppedStreams, type StoppedStream } from '#event-sourcing/projections/parked-streams.js';
import { consumerLag, type ConsumerLag } from '#event-sourcing/projections/consumer-lag.js';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
import { withDeadline } from '#event-sourcing/timing/deadline.js';
import { faultOf } from '#platform/fault/fault.js';
import { isUuid } from '#platform/text/uuid.js';
import type { View, Visited } from '../../../portal/src/frame/page.js';
import { Filters, Text } from '../../../portal/src/frame/forms.js';
import { type Column, Count, Section, State, Table, Time } from '../../../portal/src/frame/parts.js';
import { STORES, type Finding } from '../commands/doctor-stores.js';
import { CHECKS, examineAll } from '../commands/doctor.js';
import { aboutReading, DELIVERY_COLUMNS, kindOf, STORY_COLUMNS, tellStory } from '../commands/events.js';
import { LAG_COLUMNS, projectionStates, VERSION_COLUMNS, versionsIn } from '../commands/projections.js';
import { cellsOf, type Columns } from '../output.js';
import type { Session } from '../session.js';

/** Seconds after which the browser looks again at what changes by itself. */
const LOOK_AGAIN = 10;
/** The longest wait for a part of a page (ms). */
const PART_WITHIN_MS = 5_000;
/** Events that are counted after each checkpoint, at most. */
const LOOK_AHEAD = 1_000;
/** How far back the trend of a lag looks (ms). */
const TREND_MS = 60_000;
/** Rows of the parked streams. */
const SHOWN = 50;
/** Checks of the doctor that cost little, for a page that looks again by itself. */
const QUICK = CHECKS.filter(({ name }) =>
  ['workers', 'lag', 'parked streams', 'set aside', 'jobs', 'deliveries', 'clock', 'disk'].includes(name),
);

/** A request of the operator. */
export interface ConsoleVisit extends Visited {
  readonly session: Session;
}

export interface ConsolePage {
  /** Below the console's path; empty: the first page. */
  readonly path: string;
  readonly title: string;
  readonly show: (visit: ConsoleVisit) => Promise<Omit<View, 'title'>>;
}

class TooLate extends Error {}

/** A part of a page, or why it cannot be shown now. While a store is away, the rest of the page still shows. */
const part = async <T,>(
  read: () => Promise<T>,
  draw: (value: T) => ComponentChildren,
): Promise<ComponentChildren> => {
  const late = (): never => {
    throw new TooLate(`No answer within ${PART_WITHIN_MS / 1_000} s.`);
  };
  try {
    return draw(await withDeadline(PART_WITHIN_MS, read, late));
  } catch (error) {
    const fault = faultOf(error);
    if (!fault && !(error instanceof TooLate) && !isDependencyAway(error)) throw error;
    const away = fault ? `${fault.message}. ${fault.advice}` : (error as Error).message;
    return (
      <p class="refusal" role="status">
        {away}
      </p>
    );
  }
};

/** A table of the commands. */
const Listing = <T,>(props: {
  readonly caption: string;
  readonly columns: Columns<T>;
  readonly rows: readonly T[];
  readonly empty: string;
}) => {
  const cells = new Map(props.rows.map((row) => [row, cellsOf(props.columns, row)]));
  const columns = Object.keys(props.columns).map((head, at): Column<T> => {
    const isNumber = [...cells.values()].some((row) => typeof row[at] === 'number');
    const shown = (row: T) => {
      const cell = cells.get(row)![at]!;
      if (typeof cell === 'number') return <Count of={cell} />;
      return /^(state|status)$/.test(head) ? <State of={cell} label={cell} /> : cell;
    };
    return [head, shown, isNumber ? 'number' : undefined];
  });
  return <Table {...props} columns={columns} />;
};

const ORDER = ['failure', 'warning', 'ok'];

/** What checks found, the worst first. */
const Findings = ({ of, empty = '' }: { readonly of: readonly Finding[]; readonly empty?: string }) => (
  <Table
    caption="Findings"
    rows={of.toSorted((one, other) => ORDER.indexOf(one.level) - ORDER.indexOf(other.level))}
    empty={empty}
    columns={[
      ['Check', ({ check }) => check],
      ['State', ({ level }) => <State of={level} label={level} />],
      ['Finding', ({ message }) => message, 'long'],
      ['What to do', ({ advice }) => advice, 'long'],
    ]}
  />
);

interface Program {
  readonly role: string;
  readonly roles: string;
  readonly host: string;
  readonly beat: string;
  readonly ahead: number | null;
}

/** What has beaten within the last hour. */
const programsAlive = async ({ pool }: Session): Promise<readonly Program[]> => {
  const { rows } = await pool.query<Program>(
    `select role, array_to_string(roles, ' ') as roles, host, ahead_ms::float8 as ahead,
            to_char(beat_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS') as beat
     from platform.heartbeat order by role, host, instance limit 100`,
  );
  return rows;
};

const PROGRAM_COLUMNS: Columns<Program> = {
  program: 'role',
  roles: 'roles',
  machine: 'host',
  'last heard of (UTC)': 'beat',
  'clock ahead (ms)': 'ahead',
};

const overview: ConsolePage = {
  path: '',
  title: 'Overview',
  show: async ({ session }) => {
    const [troubles, programs] = await Promise.all([
      part(
        () => examineAll(session, STORES, QUICK),
        (found) => (
          <Findings
            of={found.filter(({ level }) => level !== 'ok')}
            empty={`${found.length} checks found nothing that needs attention. The doctor has more of them.`}
          />
        ),
      ),
      part(
        () => programsAlive(session),
        (rows) => (
          <Listing
            caption="Programs that are alive"
            columns={PROGRAM_COLUMNS}
            rows={rows}
            empty="No program has said for an hour that it is alive."
          />
        ),
      ),
    ]);
    return {
      refreshSeconds: LOOK_AGAIN,
      body: (
        <>
          <Section title="What needs attention">{troubles}</Section>
          <Section title="Programs that are alive">{programs}</Section>
        </>
      ),
    };
  },
};

interface Lag extends ConsumerLag {
  /** Events behind up to a minute ago; `null`: not looked at then. */
  readonly before: number | null;
}

/** What the console of this process has read within a minute. */
let samples: readonly { readonly at: number; readonly lags: readonly ConsumerLag[] }[] = [];

const lagsWithTrend = async (read: () => Promise<readonly ConsumerLag[]>): Promise<readonly Lag[]> => {
  const lags = await read();
  const now = performance.now();
  samples = [...samples.filter(({ at }) => now - at <= TREND_MS), { at: now, lags }];
  const earlier = samples.length > 1 ? samples[0]!.lags : [];
  return lags.map((lag) => ({
    ...lag,
    before: earlier.find(({ consumer }) => consumer === lag.consumer)?.events ?? null,
  }));
};

/** How a lag has changed within a minute: `+12`, `-340`. */
const trend = ({ events, before }: Lag): string =>
  before === null ? '' : `${events > before ? '+' : ''}${events - before}`;

const consumers: ConsolePage = {
  path: 'consumers',
  title: 'Consumers',
  show: async ({ session: { pool, store } }) => {
    const read = lagsWithTrend(() => consumerLag(pool, store, { lookAhead: LOOK_AHEAD }));
    const [lags, versions] = await Promise.all([
      part(
        () => read,
        (found) => (
          <Listing
            caption="Consumers of the log"
            columns={{ ...LAG_COLUMNS, 'in a minute': trend, error: 'error' }}
            rows={found}
            empty="No consumer has ever run. Start a worker."
          />
        ),
      ),
      part(
        async () => versionsIn(await projectionStates(pool, await read.catch(() => []))),
        (found) => (
          <>
            <Listing
              caption="Versions of projections"
              columns={{ ...VERSION_COLUMNS, built: (one) => built(one, found) }}
              rows={found}
              empty=""
            />
            <p class="soft">A rebuild is started with ops projections rebuild &lt;name&gt;.</p>
          </>
        ),
      ),
    ]);
    return {
      refreshSeconds: LOOK_AGAIN,
      body: (
        <>
          <Section title="Consumers of the log">{lags}</Section>
          <Section title="Versions of projections">{versions}</Section>
        </>
      ),
    };
  },
};

type Version = ReturnType<typeof versionsIn>[number];

/** How far a version that is being built is on its way to the live one, by position in the log. */
const built = ({ projection, state, position }: Version, all: readonly Version[]): string => {
  const live = all.find((one) => one.projection === projection && one.state === 'live')?.position ?? null;
  if (state !== 'building' || position === null || live === null || live === 0n) return '';
  return `${Math.min(100, Number((position * 100n) / live))} %`;
};

const parked: ConsolePage = {
  path: 'parked',
  title: 'Parked streams',
  show: async ({ session }) => ({
    refreshSeconds: LOOK_AGAIN,
    body: await part(
      () => stoppedStreams(session.pool),
      (found) => <Stopped of={found} />,
    ),
  }),
};

const Stopped = ({ of }: { readonly of: readonly StoppedStream[] }) => (
  <>
    {of.length > SHOWN && <p>The first {SHOWN} are shown.</p>}
    <p class="soft">When the cause is mended, they go on by themselves; ops parked retry does so at once.</p>
    <Table
      caption="Streams that wait"
      rows={of.slice(0, SHOWN)}
      empty="Nothing waits: every consumer continues."
      columns={[
        ['Consumer', ({ consumer }) => <code class="address">{consumer}</code>],
        ['State', ({ state }) => <State of={state} label={state} />],
        ['Stream', ({ stream }) => <code class="address">{stream}</code>],
        ['Because of', ({ cause }) => <code class="address">{cause}</code>],
        ['Since', ({ since }) => <Time at={since.toISOString()} />],
        ['Error', ({ error }) => error, 'long'],
      ]}
    />
  </>
);

const doctor: ConsolePage = {
  path: 'doctor',
  title: 'Doctor',
  show: async ({ session }) => ({ body: <Findings of={await examineAll(session)} /> }),
};

const NO_READING = 'There is no event of this reading.';

/** Types, times, ids and places of events: never what they hold. */
const reading: ConsolePage = {
  path: 'reading',
  title: 'A reading',
  show: async ({ query, session }) => {
    const id = (query.get('reading') ?? '').trim().toLowerCase();
    const about = isUuid(id)
      ? await part(
          () => aboutReading(session, id),
          ({ events, deliveries }) => (
            <>
              <Section title="Its story">
                <Listing
                  caption="Its story"
                  // Of a caller only the kind: the name in a bearer token may be a person's.
                  columns={{ ...STORY_COLUMNS, by: ({ actor }) => kindOf(actor) }}
                  rows={tellStory(events)}
                  empty={NO_READING}
                />
              </Section>
              <Section title="Deliveries">
                <Listing
                  caption="Deliveries"
                  columns={DELIVERY_COLUMNS}
                  rows={deliveries}
                  empty="No webhook was sent."
                />
              </Section>
            </>
          ),
        )
      : id !== '' && <p class="empty">{NO_READING}</p>;
    return {
      body: (
        <>
          <Filters>
            <Text name="reading" label="Id of the reading" value={id} required />
          </Filters>
          {about}
        </>
      ),
    };
  },
};

export const PAGES: readonly ConsolePage[] = [overview, consumers, parked, doctor, reading];
