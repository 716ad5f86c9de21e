import { Counter, Gauge, type Registry } from 'prom-client';
import { sharedAnswer } from '../async/shared-answer.js';
import { within } from '../async/within.js';

export interface Sample {
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface GaugeDefinition {
  readonly help: string;
  readonly labelNames?: readonly string[];
}

/** Scrapes closer together than this get the same values (ms): several scraping servers cost no more than one. */
const FRESH_MS = 2_000;
/** Longest wait for a read (ms): a store that does not answer must not delay the other metrics. */
const READ_WITHIN_MS = 3_000;

/**
 * Gauges that one read fills at each scrape, such as the age of a queue. Values that cannot be read are omitted, not
 * repeated, and counted in `metrics_read_failures_total`.
 * @param name name of the read, a label of that counter
 */
export const scrapedGauges = <N extends string>(
  registry: Registry,
  name: string,
  definitions: Readonly<Record<N, GaugeDefinition>>,
  read: () => Promise<Readonly<Partial<Record<N, readonly Sample[]>>>>,
): void => {
  const failures =
    (registry.getSingleMetric('metrics_read_failures_total') as Counter<'read'> | undefined) ??
    new Counter({
      name: 'metrics_read_failures_total',
      help: 'Reads of values for metrics that failed or took too long',
      labelNames: ['read'],
      registers: [registry],
    });
  failures.inc({ read: name }, 0);
  const fresh = sharedAnswer(FRESH_MS, async () => {
    const found = await within(READ_WITHIN_MS, read());
    if (found === null) failures.inc({ read: name });
    return found;
  });
  for (const [metric, { help, labelNames = [] }] of Object.entries<GaugeDefinition>(definitions)) {
    new Gauge({
      name: metric,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      async collect() {
        const samples = await fresh();
        this.reset();
        if (labelNames.length === 0) this.remove();
        for (const { value, labels = {} } of samples?.[metric as N] ?? []) this.set(labels, value);
      },
    });
  }
};
