import type { WebhookEndpoint } from '@reading-service/client';
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { named } from '../texts/texts.js';
import { type Answer, useVisit, type Visit } from './page.js';

/** An instant (RFC 3339) in the person's zone, with UTC on hover. `of`: how exactly it is known. */
export const Time = ({
  at,
  of = 'time',
  none,
}: {
  readonly at: string | null;
  readonly of?: 'time' | 'hour';
  /** Instead of an instant that there is not. */
  readonly none?: string;
}) => {
  const { formats, texts } = useVisit();
  if (at === null) return <span class="soft">{none ?? texts.noDate}</span>;
  return (
    <time dateTime={at} title={formats.utc(at)}>
      {formats[of](at)}
    </time>
  );
};

export const Count = ({ of }: { readonly of: number }) => <>{useVisit().formats.number(of)}</>;

/** By their colour; others have none. */
const STATES = {
  good: ['completed', 'succeeded', 'finished', 'ok', 'active', 'live', 'consuming'],
  bad: ['failed', 'failing', 'disabled', 'exhausted', 'failure', 'halted', 'parked', 'beyond_the_log'],
  busy: ['queued', 'processing', 'pending', 'running', 'unverified', 'paused', 'warning', 'building'],
};
const toneOf = (state: string): string =>
  Object.entries(STATES).find(([, states]) => states.includes(state))?.[0] ?? 'plain';

/** A state, by default in words of the catalogue's `states`. Its colour is not the only sign. */
export const State = ({ of, label }: { readonly of: string; readonly label?: string }) => (
  <span class={`state ${toneOf(of)}`}>{label ?? named(useVisit().texts.states, of)}</span>
);

/** `long`: several words or more, wide before it is high. */
export type Column<T> = readonly [
  head: string,
  cell: (row: T) => ComponentChildren,
  kind?: 'number' | 'long' | undefined,
];

/** The title of the section around a part. */
const SectionTitle = createContext<string | null>(null);

/** Eyes need not read the title of the section twice. */
const Caption = ({ text }: { readonly text: string }) => (
  <caption class={useContext(SectionTitle) === text ? 'hidden' : undefined}>{text}</caption>
);

/** A table with a caption. The first column heads its row. Empty, it says what to do instead. */
export const Table = <T,>({
  caption,
  columns,
  rows,
  empty,
}: {
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly empty: ComponentChildren;
}) =>
  rows.length === 0 ? (
    <p class="empty">{empty}</p>
  ) : (
    <div class="wide" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <Caption text={caption} />
        <thead>
          <tr>
            {columns.map(([head, , kind]) => (
              <th scope="col" class={kind}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr>
              {columns.map(([, cell, kind], at) =>
                at === 0 ? <th scope="row">{cell(row)}</th> : <td class={kind}>{cell(row)}</td>,
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );

/** Leads through a list: to its first page, and to the next one. */
export const Pager = ({ next }: { readonly next: string | null }) => {
  const { texts, path, query } = useVisit();
  const to = (cursor: string | null): string => {
    const params = new URLSearchParams(query);
    if (cursor === null) params.delete('cursor');
    else params.set('cursor', cursor);
    const search = params.toString();
    return search === '' ? path : `${path}?${search}`;
  };
  if (next === null && !query.has('cursor')) return null;
  return (
    <nav class="pager" aria-label={texts.pages}>
      {query.has('cursor') && <a href={to(null)}>{texts.firstPage}</a>}
      {next !== null && (
        <a rel="next" href={to(next)}>
          {texts.nextPage}
        </a>
      )}
    </nav>
  );
};

/** A link on a line of its own. */
export const Lead = ({ to, text }: { readonly to: string; readonly text: string }) => (
  <p>
    <a href={to}>{text}</a>
  </p>
);

/** An endpoint in a list, by its address. */
export const EndpointAddress = ({ endpointId, url }: Pick<WebhookEndpoint, 'endpointId' | 'url'>) => (
  <a class="address" href={`/portal/webhooks/${endpointId}`}>
    {url}
  </a>
);

type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values; `false` or `null`: what is not the case. */
export const Facts = ({ of }: { readonly of: readonly (Fact | false | null)[] }) => (
  <dl class="facts">
    {of.map(
      (fact) =>
        fact && (
          <div>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </div>
        ),
    )}
  </dl>
);

export const Section = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}) => (
  <section>
    <h2>{title}</h2>
    <SectionTitle.Provider value={title}>{children}</SectionTitle.Provider>
  </section>
);

/** A secret that this answer alone shows. */
export const Secret = ({ label, value }: { readonly label: string; readonly value: string }) => (
  <p class="secret">
    <span class="label">{label}</span>
    <code data-copy>{value}</code>
    <strong>{useVisit().texts.shownOnce}</strong>
  </p>
);

/** Characters of a body that a page shows: more helps nobody, and makes the page heavy. */
const SHOWN = 16_384;

/** JSON in lines; what is not JSON, as it is. */
const inLines = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

/**
 * The body of a message, to read and to copy. A long one is cut, and says so.
 * @param hides whether the session sees `null` in place of what is about a person
 */
export const Body = ({ text, hides }: { readonly text: string; readonly hides: boolean }) => {
  const { texts, formats } = useVisit();
  const isCut = text.length > SHOWN;
  return (
    <>
      <pre tabIndex={0} data-copy>
        <code dir="auto">{isCut ? text.slice(0, SHOWN) : inLines(text)}</code>
      </pre>
      <p class="hint">
        {isCut ? texts.event.cut(formats.number(SHOWN), formats.number(text.length)) : texts.event.hint}
      </p>
      {hides && <p class="hint">{texts.event.hidden}</p>}
    </>
  );
};

const WIDTH = 480;
const HEIGHT = 120;
const GAP = 3;

interface Bar {
  /** Said on hover. */
  readonly label: string;
  /** Stacked from below: at most two. */
  readonly values: readonly number[];
}

/** Bars, for the eye. A table beside them has the same figures. @param label says what they show in all */
export const BarChart = ({ label, bars }: { readonly label: string; readonly bars: readonly Bar[] }) => {
  const sums = bars.map(({ values }) => values.reduce((sum, value) => sum + value, 0));
  const scale = HEIGHT / Math.max(1, ...sums);
  const step = WIDTH / bars.length;
  return (
    <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT + 1}`} role="img" aria-label={label}>
      {bars.map(({ label: said, values }, at) => {
        let below = 0;
        return (
          <g>
            <title>{said}</title>
            {values.map((value, kind) => {
              const height = value * scale;
              below += height;
              return (
                value > 0 && (
                  <rect
                    class={kind === 0 ? 'bar' : 'bar second'}
                    x={at * step}
                    y={HEIGHT - below}
                    width={step - GAP}
                    height={height}
                  />
                )
              );
            })}
          </g>
        );
      })}
      <line class="axis" x1="0" x2={WIDTH} y1={HEIGHT + 0.5} y2={HEIGHT + 0.5} />
    </svg>
  );
};

/** The answer that alone has a secret. Sent again, the form finds that it was shown: `undefined`. */
export const shownOnce = (
  { texts, path }: Visit,
  title: string,
  label: string,
  value: string | undefined,
): Answer => {
  if (value === undefined) return { goTo: path, done: 'shownBefore' };
  const back = <a href={path}>{texts.backTo}</a>;
  return { title, body: [<Secret label={label} value={value} />, back] };
};
