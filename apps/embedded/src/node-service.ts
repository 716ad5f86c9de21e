import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { projectPath } from '@app/platform/project-path.js';
import { launch, type Launch, type Launched } from './launched.js';

/** The JSON line by which a child says that it is ready, among its log lines. */
const announcement = z.object({ event: z.enum(['listening', 'working']), port: z.number().int().optional() });
export type Announcement = z.infer<typeof announcement>;

/**
 * Megabytes, as in the Dockerfile: most of what a request makes is garbage when it is answered, and the default of 16
 * is full several times before that, so that what is still in use is copied again and again.
 */
export const SERVICE_FLAGS = ['--max-semi-space-size=32'];

/**
 * Megabytes, of the event store: what it sends lies in buffers outside the heap. A young generation that fills slowly
 * lets them pile up until all of the heap is collected, many times a second, which made reading cost half as much again.
 */
export const EVENT_STORE_FLAGS = ['--max-semi-space-size=8'];

/** Starts a compiled entry file of the project (below `dist/`) with this very Node. */
export const launchNode = (
  entry: string,
  options: Omit<Launch, 'command'>,
  flags = SERVICE_FLAGS,
): Launched<Announcement> =>
  launch(
    { ...options, command: process.execPath, args: [...flags, projectPath('dist', entry), ...options.args] },
    announced,
  );

const announced = (child: ChildProcess): Promise<Announcement> =>
  new Promise((resolve) => {
    if (!child.stdout) return;
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      const parsed = parse(line);
      if (!parsed) return;
      lines.close();
      // Closing the reader pauses the stream; the log goes on reading it.
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
