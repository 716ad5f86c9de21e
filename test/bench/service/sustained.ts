import { calculateResult } from '@app/readings/application/generate-reading/theme-calculator.js';
import type { ReadingResult } from '@app/numerology/index.js';
import { composeDocument } from '@app/publishing/document/compose.js';
import { renderMarkdown } from '@app/publishing/markdown/render.js';
import { createTypesetter } from '@app/publishing/pdf/typesetter.js';
import type { Integrator } from '../../support/integrator.js';
import type { StartedStack } from '../../support/start-stack.js';
import { cpuMilliseconds } from './process-cpu.js';
import { somebody } from './somebody.js';

/** Readings made before those that count. */
const WARM_UP = 100;
const DAY = '2026-09-29';

export interface Sustained {
  readonly perSecond: number;
  /** CPU per reading of all processes, milliseconds. */
  readonly cpuMs: number;
  /** CPU of the same readings calculated and rendered in a loop, with nothing around it, milliseconds. */
  readonly aloneMs: number;
}

/** Readings of different people, as many as the stack can make, from the first request to the last publication. */
export const measureSustained = async (
  stack: StartedStack,
  customer: Integrator,
  readings: number,
  settle: () => Promise<void>,
): Promise<Sustained> => {
  const request = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n += 1) {
      const { status } = await customer.create(somebody(n));
      if (status !== 202) throw new Error(`A request was answered ${status}`);
    }
    await settle();
  };
  const pids = Object.entries(stack.pids()).flatMap(([name, pid]) => (name === 'main' ? [] : [pid]));
  const cpu = (): number => pids.reduce((sum, pid) => sum + cpuMilliseconds(pid), 0);
  await request(0, WARM_UP);
  const [cpuBefore, startedAt] = [cpu(), performance.now()];
  await request(WARM_UP, WARM_UP + readings);
  return {
    perSecond: (readings * 1_000) / (performance.now() - startedAt),
    cpuMs: (cpu() - cpuBefore) / readings,
    aloneMs: await alone(readings),
  };
};

/** The same people, one after the other, in this process. */
const alone = async (readings: number): Promise<number> => {
  const typesetter = createTypesetter();
  let before = process.cpuUsage();
  for (let n = 0; n < WARM_UP + readings; n += 1) {
    if (n === WARM_UP) before = process.cpuUsage();
    const { locale, name, dateOfBirth, grammaticalProfile } = somebody(n);
    const readingId = '00000000-0000-4000-8000-000000000000';
    const input = { name, dateOfBirth, grammaticalProfile };
    const bytes = calculateResult({ readingId, locale, asOf: DAY, input });
    const result = JSON.parse(bytes.toString('utf8')) as ReadingResult;
    const document = composeDocument(result, { publishedAt: `${DAY}T00:00:00.000Z` });
    renderMarkdown(document);
    typesetter.typeset(document);
    // Lets Node free what native code handed over.
    await new Promise(setImmediate);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / readings;
};
