import { readFileSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { API_KEY_SCOPES } from '#platform/auth/scopes.js';
import { PAGES } from '../../apps/portal/src/pages/pages.js';
import { memoryMiB } from '../bench/processes.js';
import { Integrator } from '../support/integrator.js';
import { PortalVisitor, hiddenFields } from '../support/portal-visitor.js';
import { sharedStack, startApi, type StartedProcess, type Stack } from '../support/index.js';
import { isSoak } from '../support/rounds.js';
import { worstHeaders, worstRequests, type WorstRequest } from '../support/worst-texts.js';

/** Who sends bulks: a workspace may have four large ones under way. */
const SENDERS = 4;
const AT_ONCE = 16;
/** What a neighbour may wait for a text that somebody else sent, or ten times what it waits when nobody else asks. */
const LONGEST_WAIT_MS = 250;
const TIMES_AT_REST = 10;
const LARGEST_ANSWER = 32_768;
/** Its errors have 256 KiB, and each of a thousand items says what became of it. */
const LARGEST_BULK_ANSWER = 655_360;
const SLOW_MS = 1_200_000;

let stack: Stack;
let api: StartedProcess;
let senders: readonly Integrator[];
let neighbour: Integrator;
let ids: Readonly<Record<string, string>>;
let mayWaitMs: number;
const agent = new Agent({ keepAlive: true });
/** The longest wait by what was sent, which the soak suite prints. */
const waits = new Map<string, number>();

beforeAll(async () => {
  stack = await sharedStack();
  api = await startApi(stack, { NODE_OPTIONS: '--max-old-space-size=512' });
  const open = async (credits: number) => (await Integrator.open(stack, credits)).at(stack, api.baseUrl);
  neighbour = await open(0);
  const plain = await open(40);
  const first = await plain.withKey('--scopes', [...API_KEY_SCOPES].join());
  const others = await Promise.all(Array.from({ length: SENDERS - 1 }, () => open(0)));
  senders = [first, ...others];
  const { readingId } = (await first.create()).body;
  await first.untilEnded(readingId);
  const body = { url: 'https://receiver.example.com/hook' };
  const { endpointId } = (await first.call('POST', '/api/v1/webhooks', { body })).body as {
    endpointId: string;
  };
  ids = { readingId, endpointId };
  const atRest = await longestWait(api, neighbour, new Promise((resolve) => setTimeout(resolve, 2_000)));
  waits.set('at rest', atRest);
  mayWaitMs = Math.max(LONGEST_WAIT_MS, TIMES_AT_REST * atRest);
});

afterAll(async () => {
  agent.destroy();
  await api?.stop();
  await stack?.stop();
});

const TICK_MS = 10;
/** CPU time that a process has used, milliseconds: other programs of a slow machine do not count. */
const cpuOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) * TICK_MS;
};

/** How long /healthz and a neighbour's GET wait at most, in time and in CPU time of the API, until `done`. */
const longestWait = async (
  { baseUrl, pid }: Pick<StartedProcess, 'baseUrl' | 'pid'>,
  { apiKey }: Integrator,
  done: Promise<unknown>,
): Promise<number> => {
  const agent = new Agent({ keepAlive: true });
  const statusOf = (target: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      send(baseUrl + target, { agent, headers: { 'x-api-key': apiKey } }, (incoming) => {
        incoming.resume().once('error', reject);
        incoming.once('end', () => resolve(incoming.statusCode));
      })
        .once('error', reject)
        .end();
    });
  let isOver = false;
  void done.finally(() => (isOver = true)).catch(() => undefined);
  const waited = async (target: string): Promise<number> => {
    const from = { at: performance.now(), cpu: cpuOf(pid) };
    const status = await statusOf(target);
    if (status !== 200) throw new Error(`${target} answers ${status}`);
    return Math.min(performance.now() - from.at, cpuOf(pid) - from.cpu);
  };
  const probe = async (target: string): Promise<number> => {
    let longest = 0;
    do longest = Math.max(longest, await waited(target));
    while (!isOver);
    return longest;
  };
  try {
    const found = await Promise.all(['/healthz', '/api/v1/credits'].map(probe));
    await done;
    return Math.max(...found);
  } finally {
    agent.destroy();
  }
};

interface Answered {
  readonly status: number;
  readonly bytes: number;
}

const answerTo = (
  { method, target, headers, body }: Omit<WorstRequest, 'field'>,
  { apiKey }: Integrator,
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const sent = { 'x-api-key': apiKey, ...headers };
    const outgoing = send(api.baseUrl, { agent, method, path: target, headers: sent }, (incoming) => {
      let bytes = 0;
      incoming.on('data', (chunk: Buffer) => (bytes += chunk.length));
      incoming.once('error', reject);
      incoming.once('end', () => resolve({ status: incoming.statusCode ?? 0, bytes }));
    });
    outgoing.once('error', reject);
    outgoing.end(body?.());
  });

/** In CI each field has one of its texts, in the soak suite all: they stand together, three or more of a field. */
const EVERY = isSoak ? 1 : 3;
/** In a form. */
const UNITS = ['\u0315\u0316', '<', ','];

/** A freeze comes back each time; a busy machine does not. */
const ATTEMPTS = 3;

const faultsOf = async (field: string, attack: () => Promise<Answered>): Promise<readonly string[]> => {
  let wait = Infinity;
  let answered: Answered = { status: 0, bytes: 0 };
  for (let n = 0; n < ATTEMPTS && wait > mayWaitMs; n += 1) {
    const answer = attack();
    wait = Math.min(wait, await longestWait(api, neighbour, answer));
    answered = await answer;
  }
  waits.set(field, wait);
  return [
    ...(wait > mayWaitMs ? [`${field}: others wait ${Math.round(wait)} ms`] : []),
    ...sizeFaults(field, answered),
  ];
};

const sizeFaults = (field: string, { status, bytes }: Answered): readonly string[] => [
  ...(status >= 500 ? [`${field}: ${status}`] : []),
  ...(status >= 400 && bytes > LARGEST_ANSWER ? [`${field}: a refusal of ${bytes} bytes`] : []),
  ...(bytes > LARGEST_BULK_ANSWER ? [`${field}: an answer of ${bytes} bytes`] : []),
];

it(
  'Nobody waits long for the worst text in any field that somebody else sends',
  async () => {
    const faults: string[] = [];
    const all = [...worstRequests(ids), ...worstHeaders];
    for (const one of all.filter((_, n) => n % EVERY === 0))
      faults.push(...(await faultsOf(one.field, () => answerTo(one, senders[0]!))));
    expect(faults).toEqual([]);
  },
  SLOW_MS,
);

it(
  'Nobody waits long for the worst text in any field of a form of the portal',
  async () => {
    const { workspaceId } = senders[0]!;
    const visitor = await PortalVisitor.signedIn({ ...stack, baseUrl: api.baseUrl }, workspaceId);
    const faults: string[] = [];
    let n = 0;
    for (const { path, actions } of PAGES.filter(
      (page) => page.actions && !/:(?!readingId|endpointId)/.test(page.path),
    )) {
      const target = `/portal${path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name]!)}`;
      const { text } = await visitor.get(target);
      const names = new Set(
        [...text.matchAll(/<(?:input|select|textarea)[^>]* name="(\w+)"/g)].map(([, name]) => name!),
      );
      for (const action of Object.keys(actions!))
        for (const name of names) {
          n += 1;
          for (const unit of UNITS.filter((_, place) => isSoak || place === n % EVERY)) {
            const fields = { ...hiddenFields(text, action), action, [name]: '' };
            const head = `${new URLSearchParams(fields).toString().replace(`${name}=`, '')}&${name}=`;
            const body = head + unit.repeat((16_300 - head.length) / Buffer.byteLength(unit));
            const attack = async () => {
              const answer = await visitor.postRaw(target, body);
              return { status: answer.status, bytes: 0 };
            };
            faults.push(...(await faultsOf(`form ${path} ${action} ${name}: ${unit}`, attack)));
          }
        }
    }
    expect(faults).toEqual([]);
  },
  SLOW_MS,
);

it(
  `With a heap of 512 MiB the API survives ${AT_ONCE} of the worst bulks at a time`,
  async () => {
    const bulks = worstRequests(ids).filter(({ field }) =>
      / \/api\/v1\/readings\/bulk (body|line) /.test(field),
    );
    const faults: string[] = [];
    const next = bulks.values();
    const worker = async (_: unknown, n: number): Promise<void> => {
      for (const one of next) {
        let answered = await answerTo(one, senders[n % SENDERS]!);
        // As many as may be under way are: one that has just been answered may still count.
        while (answered.status === 503) answered = await answerTo(one, senders[n % SENDERS]!);
        faults.push(...sizeFaults(one.field, answered));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    expect(faults).toEqual([]);
    expect(await answerTo({ method: 'GET', target: '/healthz', headers: {} }, neighbour)).toMatchObject({
      status: 200,
    });
    if (isSoak) tellFigures(bulks.length);
  },
  SLOW_MS,
);

/** The longest wait of each kind of field, and where it was. */
const tellFigures = (bulks: number): void => {
  const kindOf = (field: string) =>
    /\b(bulk body|bulk line|body|query|path|header|form)\b/.exec(field)?.[1] ?? field;
  const ascending = [...waits].toSorted(([, a], [, b]) => a - b);
  const worst = new Map(ascending.map((one) => [kindOf(one[0]), one]));
  for (const [kind, [field, wait]] of worst)
    process.stderr.write(`| ${kind} | ${field} | ${wait.toFixed(0)} ms |\n`);
  process.stderr.write(
    `${waits.size} texts; ${bulks} bulks, ${AT_ONCE} at a time: peak ${memoryMiB(api.pid, 'VmHWM').toFixed(0)} MiB\n`,
  );
};
