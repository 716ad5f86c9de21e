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
import { STORES, type Finding, CHECKS, examineAll } from './doctor.js';
import { aboutReading, DELIVERY_COLUMNS, kindOf, STORY_COLUMNS, tellStory } from './events.js';
import { LAG_COLUMNS, projectionStates, VERSION_COLUMNS, versionsIn } from './projections.js';
import { cellsOf, type Columns, OpsError, print, tell } from '../output.js';
import { type Session, withSession } from '../session.js';
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { formatsOf } from '../../../portal/src/frame/formats.js';
import { readAssets, Sender, type Site } from '../../../portal/src/frame/send.js';
import { TEXTS } from '../../../portal/src/texts/texts.js';
import type { Command } from 'commander';
import { wholeFrom } from './options.js';
import { parseZone } from './workspace.js';

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
interface ConsoleVisit extends Visited {
  readonly session: Session;
}

interface ConsolePage {
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

const PAGES: readonly ConsolePage[] = [overview, consumers, parked, doctor, reading];

/** Only this machine reaches it. There is no setting for another address. */
const ADDRESS = '127.0.0.1';
const LINK_MS = 60_000;
const LONGEST_MS = 8 * 3_600_000;
const MOST_CONNECTIONS = 50;
const REQUEST_WITHIN_MS = 10_000;
/** Browsers send a cookie to every port of a machine, but only below its path, which nobody else knows. */
const COOKIE = 'console';

const SITE = { language: 'en', name: 'Operator console' } as const;
const texts = TEXTS[SITE.language];

/** What people read who are not in. */
const SAID = {
  entered: { title: 'You are signed in', text: 'The console opens now.' },
  linkEnded: {
    title: 'This link does not work',
    text: 'A link to the console works once, within 60 seconds. Start ops console again for another one.',
  },
  notIn: {
    title: 'You are not in',
    text: 'Open the link that ops console printed. It works once; start the command again for another one.',
  },
  wrongHost: {
    title: 'This is not the address of the console',
    text: 'Open it under the very address that ops console printed.',
  },
  noPage: { title: 'There is no such page', text: 'Open the console, and choose a page there.' },
  unavailable: texts.unavailable,
} as const;

const random = (bytes: number): string => randomBytes(bytes).toString('base64url');
const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
const isSame = (one: string, other: string): boolean => timingSafeEqual(hash(one), hash(other));

/** The operators' pages, for one person: whoever opens the link. */
class Console {
  private readonly home = `/${random(9)}`;
  private readonly token = random(32);
  private readonly secret = random(32);
  private readonly startedAt = Date.now();
  private isUsed = false;
  /** Not below the home: strangers see their addresses. */
  private readonly assets = readAssets('');
  private readonly sender = new Sender(this.assets.paths, []);
  private readonly shared: Omit<ConsoleVisit, 'path' | 'query'>;
  private readonly server = createServer((request, response) => void this.listen(request, response));
  private end: (error?: Error) => void = () => undefined;
  private timers: readonly NodeJS.Timeout[] = [];

  /** @param port 0: a free one */
  constructor(
    private readonly session: Session,
    private readonly port: number,
    timeZone: string,
  ) {
    const formats = formatsOf(SITE.language, timeZone);
    this.shared = { session, texts, formats };
  }

  /** @returns the link, and what resolves when the console has ended @throws OpsError when the port is taken */
  async open() {
    this.server.maxConnections = MOST_CONNECTIONS;
    this.server.requestTimeout = REQUEST_WITHIN_MS;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', ({ message }) =>
        reject(new OpsError(`The console cannot listen: ${message}.`)),
      );
      this.server.listen(this.port, ADDRESS, resolve);
    });
    const ended = new Promise<void>((resolve, reject) => {
      this.end = (error) => (error ? reject(error) : resolve());
    });
    const unused = () =>
      this.isUsed || this.end(new OpsError('Nobody opened the link within 60 s. The console has ended.'));
    this.timers = [setTimeout(unused, LINK_MS), setTimeout(() => this.end(), LONGEST_MS)];
    return {
      url: `${this.origin}${this.home}/enter/${this.token}`,
      urlExpiresAt: new Date(this.startedAt + LINK_MS).toISOString(),
      endsAt: new Date(this.startedAt + LONGEST_MS).toISOString(),
      ended,
    };
  }

  /** Ends the console: its link and its cookie are worth nothing any more. */
  close(): void {
    this.timers.forEach(clearTimeout);
    this.server.close();
    this.server.closeAllConnections();
    this.end();
  }

  private get host(): string {
    return `${ADDRESS}:${(this.server.address() as AddressInfo).port}`;
  }
  private get origin(): string {
    return `http://${this.host}`;
  }

  private async listen(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.sender.guard(response);
    try {
      await this.answer(request, response);
    } catch (error) {
      tell(`A page of the console failed: ${error instanceof Error ? error.message : 'error'}`);
      this.outside(response, 503, 'unavailable');
    }
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A name that a stranger's page has made lead here (DNS rebinding) is another host.
    if (request.headers.host !== this.host) return this.outside(response, 421, 'wrongHost');
    const url = request.url?.startsWith('/') ? request.url : '/';
    const { pathname, searchParams } = new URL(`${this.origin}${url}`);
    const asset = this.assets.documents.find(({ path }) => path === pathname);
    if (asset) {
      response.setHeader('Content-Type', asset.mediaType);
      response.setHeader('Cache-Control', asset.cacheControl);
      response.end(asset.bytes);
      return;
    }
    if (pathname.startsWith(`${this.home}/enter/`)) return this.enter(request, response, pathname);
    if (!this.isIn(request)) return this.outside(response, 401, 'notIn');
    const page = PAGES.find((one) => this.pathOf(one) === pathname);
    if (!page) return this.outside(response, 404, 'noPage', true);
    const visit: ConsoleVisit = { ...this.shared, path: pathname, query: searchParams };
    const view = { title: page.title, ...(await page.show(visit)) };
    const site: Site = {
      ...SITE,
      home: this.home,
      about: this.session.actor,
      areas: PAGES.map((one) => ({ label: one.title, href: this.pathOf(one), isCurrent: one === page })),
    };
    this.sender.page(response, 200, site, { visit }, view, null);
  }

  /** Takes the link once. A browser that fetches ahead, or asks only for the head, does not use it up. */
  private enter(request: IncomingMessage, response: ServerResponse, pathname: string): void {
    if (request.method !== 'GET' || request.headers['sec-purpose'] !== undefined) {
      response.writeHead(204).end();
      return;
    }
    const given = pathname.slice(`${this.home}/enter/`.length);
    const isLate = Date.now() > this.startedAt + LINK_MS;
    if (this.isUsed || isLate || !isSame(given, this.token)) return this.outside(response, 410, 'linkEnded');
    this.isUsed = true;
    const seconds = Math.floor((this.startedAt + LONGEST_MS - Date.now()) / 1_000);
    response.setHeader(
      'Set-Cookie',
      `${COOKIE}=${this.secret}; Path=${this.home}; Max-Age=${seconds}; HttpOnly; SameSite=Strict`,
    );
    // Not a redirect: browsers send a strict cookie only from a page of its own site.
    response.setHeader('Refresh', `0; url=${this.home}`);
    this.outside(response, 200, 'entered', true);
  }

  private isIn({ headers }: IncomingMessage): boolean {
    return (headers.cookie ?? '').split(/; */).some((one) => isSame(one, `${COOKIE}=${this.secret}`));
  }

  private pathOf({ path }: ConsolePage): string {
    return path === '' ? this.home : `${this.home}/${path}`;
  }

  private outside(
    response: ServerResponse,
    status: number,
    said: keyof typeof SAID,
    linksHome?: boolean,
  ): void {
    const link = linksHome ? { href: this.home, label: 'Open the console' } : undefined;
    this.sender.outside(response, status, SITE, SAID[said], link);
  }
}

const addConsoleCommand = (console: Command): void => {
  console
    .option('--port <port>', 'port on 127.0.0.1; default: a free one', wholeFrom(1, 65_535), 0)
    .option('--zone <zone>', 'time zone of the pages, as Europe/Paris', parseZone, 'UTC')
    .addHelpText(
      'after',
      `
Only this machine reaches the pages. The link works once, within 60 seconds. The console ends with Ctrl-C, after 8 hours,
or when nobody opens the link.

Example:
  ops console --port 8500     then, elsewhere: ssh -L 8500:127.0.0.1:8500 <this machine>`,
    )
    .action(async ({ port, zone }: { port: number; zone: string }, command: Command) => {
      await withSession(async (session) => {
        const pages = new Console(session, port, zone);
        const { ended, ...link } = await pages.open();
        const stop = (): void => pages.close();
        process.once('SIGINT', stop).once('SIGTERM', stop);
        try {
          print(command, link, link.url);
          await ended;
        } finally {
          process.off('SIGINT', stop).off('SIGTERM', stop);
          pages.close();
        }
      });
    });
};

export const commands = { console: addConsoleCommand };
