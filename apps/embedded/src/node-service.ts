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

/** Starts a compiled entry file of the project (below `dist/`) with this very Node. */
export const launchNode = (entry: string, options: Omit<Launch, 'command'>): Launched<Announcement> =>
  launch(
    {
      ...options,
      command: process.execPath,
      args: [...SERVICE_FLAGS, projectPath('dist', entry), ...options.args],
    },
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
