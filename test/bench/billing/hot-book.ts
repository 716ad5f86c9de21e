import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { BookVerifier } from '#billing/audit/verify-book.js';
import { projectPath } from '#platform/project-path.js';
import { cpuMilliseconds } from '../service/process-cpu.js';
import { connect, ledgerOn, openBook } from './books.js';
import type { Called } from './caller.js';
import type { ServedStore } from './event-store.js';
import type { Settings } from '../report.js';

const CALLERS = 64;

interface Load {
  readonly perSecond: number;
  readonly p99: number;
  readonly unavailable: number;
  /** CPU time per reservation of callers and event store, microseconds. */
  readonly callerCpu: number;
  readonly storeCpu: number;
}

/** Measures a load on one workspace, with the callers divided among processes. */
const load = async (
  store: ServedStore,
  workspaceId: string,
  processes: number,
  seconds: number,
): Promise<Load> => {
  const caller = projectPath('dist/test/bench/billing/caller.js');
  const children = Array.from({ length: processes }, () => {
    const args = [caller, store.url, workspaceId, String(CALLERS / processes), String(seconds)];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    return { child, lines: createInterface({ input: child.stdout }) };
  });
  await Promise.all(children.map(({ lines }) => once(lines, 'line')));
  const storeBefore = cpuMilliseconds(store.pid);
  const results = await Promise.all(
    children.map(async ({ child, lines }) => {
      child.stdin.write('go\n');
      const [line] = (await once(lines, 'line')) as [string];
      return JSON.parse(line) as Called & { warm: number };
    }),
  );
  const sum = (value: (one: Called & { warm: number }) => number): number =>
    results.reduce((total, one) => total + value(one), 0);
  const latencies = results.flatMap((one) => one.latencies).sort((a, b) => a - b);
  const reserved = sum((one) => one.reserved);
  return {
    perSecond: sum((one) => (one.reserved * 1_000) / one.elapsed),
    p99: latencies[Math.ceil(latencies.length * 0.99) - 1] ?? NaN,
    unavailable: sum((one) => one.unavailable),
    callerCpu: (sum((one) => one.cpu) * 1_000) / reserved,
    storeCpu: ((cpuMilliseconds(store.pid) - storeBefore) * 1_000) / (reserved + sum((one) => one.warm)),
  };
};

/** Audits a book from its raw stream: violations of its rules, and the credits held. */
const audited = async (store: ServedStore, workspaceId: string) => {
  const events = await connect(store.url);
  const stream = `credits-${workspaceId}`;
  const verifier = new BookVerifier(stream, 10_000);
  let held = 0;
  for await (const event of events.read(stream)) {
    verifier.see(event);
    if (event.type === 'CreditsReserved') held += (event.data as { amount: number }).amount;
  }
  await events.close();
  return { held, findings: verifier.report().findings.length };
};

/** More credits than any machine can reserve in one load. */
const PLENTY = 2_000_000_000;
/** So few credits that the warm-up uses them up. */
const SCARCE = 2_000;

export const measureHotBook = async (
  store: ServedStore,
  seconds: number,
  add: Settings['add'],
): Promise<void> => {
  const events = await connect(store.url);
  const ledger = ledgerOn(events);
  for (const [name, credits] of [
    ['one', PLENTY],
    ['two', PLENTY],
    ['scarce', SCARCE],
  ] as const) {
    await openBook(ledger, name, credits);
  }
  await events.close();
  const cost = ({ callerCpu, storeCpu }: Load): string =>
    `CPU ${(callerCpu / 1_000).toFixed(2)} + ${(storeCpu / 1_000).toFixed(2)} ms each, callers + store`;

  const one = await load(store, 'one', 1, seconds);
  add({
    what: `reservations on one workspace, ${CALLERS} callers in one process`,
    measured: `${one.perSecond.toFixed(0)}/s, p99 ${one.p99.toFixed(0)} ms; ${cost(one)}`,
    aim: '≥ 2000/s, p99 ≤ 100 ms',
    met: one.perSecond >= 2_000 && one.p99 <= 100 && one.unavailable === 0,
  });
  const two = await load(store, 'two', 2, seconds);
  add({
    what: 'the same in two processes',
    measured: `${two.perSecond.toFixed(0)}/s, p99 ${two.p99.toFixed(0)} ms, ${two.unavailable} refused as 503; ${cost(two)}`,
    aim: '≥ 500/s, no 503',
    met: two.perSecond >= 500 && two.unavailable === 0,
  });
  await load(store, 'scarce', 2, 1);
  const books = await Promise.all(['one', 'two', 'scarce'].map((name) => audited(store, name)));
  const findings = books.reduce((sum, book) => sum + book.findings, 0);
  const { held } = books.at(-1)!;
  add({
    what: `overdraft: held of ${SCARCE} credits, two processes asking for more; findings in the books of all loads`,
    measured: `${held}; ${findings}`,
    aim: `${SCARCE}; 0`,
    met: held === SCARCE && findings === 0,
  });
};
