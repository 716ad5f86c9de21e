import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectPath } from '#platform/project-path.js';
import type { Services } from './companion-server.js';

const PROGRAM = projectPath('dist/test/support/companion-server.js');
const STARTS_WITHIN_MS = 180_000;
const POLL_MS = 25;
/** Longer than anything that it does, and shorter than a test may last: a hang is named, and ends with its companion. */
const ANSWERS_WITHIN_MS = 500_000;

/**
 * Asks the companion: a process that does for specs what takes long to load. It lives as long as this worker of the test
 * runner, so that one spec file after the other finds it loaded. The first question starts it. It saves 2 s of CPU for
 * each of 130 spec files with a database, 3 s for each of 30 with a stack, 0.4 s for each command: a fifth of all.
 *
 * @param signal ends the companion, with whatever it is doing
 * @throws Error with the companion's own message, or when it ends or hangs meanwhile
 */
export const askCompanion = async <Path extends keyof Services>(
  path: Path,
  asked: Services[Path]['asks'],
  signal?: AbortSignal,
): Promise<Services[Path]['answers']> => {
  // A new build has a companion of its own.
  const socket = join(tmpdir(), `companion-${process.pid}-${Math.round(statSync(PROGRAM).mtimeMs)}.sock`);
  for (const until = Date.now() + STARTS_WITHIN_MS; ; await sleep(POLL_MS)) {
    const answer = await ask(socket, path, asked, signal);
    if (answer) return JSON.parse(answer.text) as Services[Path]['answers'];
    if (Date.now() > until) throw new Error('The companion of the tests did not start: try `npm run build`');
    start(socket);
  }
};

/** The sockets of companions that this spec file started. */
const started = new Set<string>();
const start = (socket: string): void => {
  if (started.has(socket)) return;
  started.add(socket);
  spawn(process.execPath, [PROGRAM, socket], { stdio: 'ignore' })
    .once('exit', () => started.delete(socket))
    .unref();
};

/** @returns `null` when nobody listens */
const ask = async (
  socketPath: string,
  path: string,
  asked: Services[keyof Services]['asks'],
  signal?: AbortSignal,
): Promise<{ readonly text: string } | null> => {
  const late = AbortSignal.timeout(ANSWERS_WITHIN_MS);
  const ended = signal ? AbortSignal.any([signal, late]) : late;
  const asking = request({ socketPath, path, method: 'POST', agent: false, signal: ended });
  asking.end(JSON.stringify(asked));
  try {
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    const body = await text(answer);
    if (answer.statusCode === 200) return { text: body };
    throw new Error(body);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return null;
    const called = asked && 'args' in asked ? ` ${asked.args.join(' ')}` : '';
    if (late.aborted)
      throw new Error(`The companion of the tests hangs in ${path}${called}`, { cause: error });
    throw code === 'ECONNRESET' ? new Error('The companion of the tests ended') : error;
  }
};
