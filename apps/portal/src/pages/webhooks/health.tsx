import type { WebhookEndpointStats } from '@reading-service/client';
import { BarChart } from '../../frame/chart.js';
import type { Visit } from '../../frame/page.js';
import { Count, Section, Table, Time } from '../../frame/parts.js';

const HOUR_MS = 3_600_000;
const SHOWN_HOURS = 24;

interface Hour {
  readonly hour: string;
  readonly succeeded: number;
  readonly failed: number;
  readonly latencyMs: { readonly p50: number; readonly p95: number } | null;
}

const NOTHING = { attempts: {}, latencyMs: null };

/** Every hour up to the last one, also those without an attempt. */
const hoursOf = ({ until, hours }: WebhookEndpointStats): readonly Hour[] => {
  const known = new Map(hours.map((one) => [Date.parse(one.hour), one]));
  const last = Math.floor((Date.parse(until) - 1) / HOUR_MS) * HOUR_MS;
  return Array.from({ length: SHOWN_HOURS }, (_, at) => {
    const hour = last - (SHOWN_HOURS - 1 - at) * HOUR_MS;
    const { attempts, latencyMs } = known.get(hour) ?? NOTHING;
    const all = Object.values<number>(attempts).reduce((sum, count) => sum + count, 0);
    const succeeded = (attempts as Readonly<Record<string, number>>)['succeeded'] ?? 0;
    return { hour: new Date(hour).toISOString(), succeeded, failed: all - succeeded, latencyMs };
  });
};

/** The attempts of the last 24 hours, as a chart and as a table. */
export const Health = ({ visit, stats }: { readonly visit: Visit; readonly stats: WebhookEndpointStats }) => {
  const { texts, formats } = visit;
  const { endpoint } = texts;
  const hours = hoursOf(stats);
  const sum = (of: 'succeeded' | 'failed') => hours.reduce((total, hour) => total + hour[of], 0);
  const [succeeded, failed] = [sum('succeeded'), sum('failed')];
  if (succeeded + failed === 0)
    return (
      <Section title={endpoint.health}>
        <p class="empty">{endpoint.noAttempts}</p>
      </Section>
    );
  const said = endpoint.chart(formats.number(succeeded), formats.number(failed));
  return (
    <Section title={endpoint.health}>
      <BarChart
        label={said}
        bars={hours.map((one) => ({
          label: endpoint.bar(
            formats.time(one.hour),
            formats.number(one.succeeded),
            formats.number(one.failed),
          ),
          values: [one.succeeded, one.failed],
        }))}
      />
      <p class="legend" aria-hidden="true">
        <span>{texts.pair(endpoint.succeeded, formats.number(succeeded))}</span>
        <span>{texts.pair(endpoint.failed, formats.number(failed))}</span>
      </p>
      <details>
        <summary>{endpoint.hours}</summary>
        <Table
          caption={endpoint.hours}
          rows={hours.filter((one) => one.succeeded + one.failed > 0)}
          empty={endpoint.noAttempts}
          columns={[
            { head: endpoint.hour, cell: ({ hour }) => <Time at={hour} /> },
            { head: endpoint.succeeded, cell: (one) => <Count of={one.succeeded} />, isNumber: true },
            { head: endpoint.failed, cell: (one) => <Count of={one.failed} />, isNumber: true },
            { head: endpoint.median, cell: (one) => one.latencyMs?.p50 ?? '–', isNumber: true },
            { head: endpoint.p95, cell: (one) => one.latencyMs?.p95 ?? '–', isNumber: true },
          ]}
        />
      </details>
    </Section>
  );
};
