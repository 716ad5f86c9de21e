import { cpus, totalmem } from 'node:os';

/** One measured number and what it is compared with. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  /** Measured in the same run; absent when the aim is an absolute number. */
  readonly floor?: string;
  /** The ratio to the floor, or the number itself; absent where `measured` holds several. */
  readonly value?: number;
  /** Empty for a number without an aim. */
  readonly aim: string;
  readonly met: boolean | null;
}

/** The input of a benchmark. */
export interface Settings {
  /** Length of each load, seconds. */
  readonly seconds: number;
  /** Readings, documents or events in measurements that count them; undefined for the benchmark's default. */
  readonly count: number | undefined;
  /** Settled deliveries of a long history; undefined for the benchmark's default. */
  readonly history: number | undefined;
  /** Reports a row as soon as it is measured. */
  readonly add: (row: Row) => void;
  /** Prints progress. */
  readonly say: (text: string) => void;
}

export interface Benchmark {
  /** Its name on the command line. */
  readonly name: string;
  readonly title: string;
  /** What is loaded, how, and what the floors are. */
  readonly explanation: string;
  run(settings: Settings): Promise<void>;
}

export const perSecond = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)}/s`;

/** A rate compared with the rate of a floor, both per second. The aim is a ratio of at least `least`. */
export const ratio = (what: string, measured: number, floor: number, least: number): Row => ({
  what,
  measured: perSecond(measured),
  floor: perSecond(floor),
  value: measured / floor,
  aim: `≥ ${least}`,
  met: measured / floor >= least,
});

/** A number that must not exceed a bound. */
export const atMost = (what: string, value: number, unit: string, most: number): Row => ({
  what,
  measured: `${value.toFixed(1)} ${unit}`,
  value,
  aim: `≤ ${most} ${unit}`,
  met: value <= most,
});

/** A number that must not fall below a bound. */
export const atLeast = (what: string, value: number, unit: string, least: number): Row => ({
  what,
  measured: `${value.toFixed(0)} ${unit}`,
  value,
  aim: `≥ ${least} ${unit}`,
  met: value >= least,
});

/** A number without an aim. */
export const told = (what: string, value: number, unit: string, digits = 1): Row => ({
  what,
  measured: `${value.toFixed(digits)} ${unit}`,
  value,
  aim: '',
  met: null,
});

/** Describes the machine of the measurement. */
export const machine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;

/** Of a page: what was measured, its ratio to the floor, and the aim, with `**missed**` where it is not met. */
const markdownRow = ({ what, measured, floor, value, aim, met }: Row): string => {
  const ratioIs = floor === undefined || value === undefined ? '' : `, ${value.toFixed(2)} ×`;
  return `| ${what} | ${measured}${ratioIs} | ${met === false ? '**missed** ' : ''}${aim} |`;
};

/** @returns a section of the page, with the rows that have an aim */
export const markdownSection = ({ title }: Benchmark, rows: readonly Row[]): string => `## ${title}

Measured on ${machine()}.

| what | measured, × the floor | aim |
|---|---|---|
${rows
  .filter(({ aim }) => aim !== '')
  .map(markdownRow)
  .join('\n')}
`;

const INTRODUCTION = `# Benchmarks

\`npm run bench -- --write\` writes this page: each part against a floor of the same run, so that ratios mean something on
any machine. It shows the rows that have an aim; the command prints all, and says what is loaded and what the floors
are. The load generator shares the cores with the system under load.
`;

/** Replaces or adds a section of a page; existing sections keep their order. */
export const withSection = (page: string, title: string, text: string): string => {
  const known = new Map(
    page
      .split(/^(?=## )/m)
      .slice(1)
      .map((section) => [/^## (.*)$/m.exec(section)?.[1] ?? '', section.trimEnd()]),
  ).set(title, text.trimEnd());
  return `${INTRODUCTION}\n${[...known.values()].join('\n\n')}\n`;
};
