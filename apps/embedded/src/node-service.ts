import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { launch, type Launch, type Launched } from './launched.js';

/** The JSON line with which a child reports that it is ready, among its log lines. */
const announcement = z.object({ event: z.enum(['listening', 'working']), port: z.number().int().optional() });
export type Announcement = z.infer<typeof announcement>;

/** Young generation in MB, as in the Dockerfile: the default of 16 copies what lives during a request several times. */
export const SERVICE_FLAGS = ['--max-semi-space-size=32'];

/** In MB. What it sends lies outside the heap: a young generation that fills slowly lets it pile up. */
export const EVENT_STORE_FLAGS = ['--max-semi-space-size=8'];

/** Starts a program of the project, an absolute path, with the current Node binary. */
export const launchNode = (
  program: string,
  options: Omit<Launch, 'command'>,
  flags = SERVICE_FLAGS,
): Launched<Announcement> =>
  launch({ ...options, command: process.execPath, args: [...flags, program, ...options.args] }, announced);

const announced = (child: ChildProcess): Promise<Announcement> =>
  new Promise((resolve) => {
    if (!child.stdout) return;
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      const parsed = parse(line);
      if (!parsed) return;
      lines.close();
      // Closing the line reader pauses the stream; resume it for the log.
      child.stdout?.resume();
      resolve(parsed);
    });
  });

const parse = (line: string): Announcement | undefined => {
  if (!line.startsWith('{"event"')) return undefined;
  try {
    return announcement.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
};
