import 'reflect-metadata';
import { run } from './run.js';

/** Exit code of a program whose reader left early: 128 + SIGPIPE, as shells report it. */
const READER_LEFT = 141;

let isRunning = true;
/** `ops … | head`: nobody reads the rest. `ops … > file` on a full disk has lost a part, so it fails. */
const onBrokenOutput = (error: NodeJS.ErrnoException): void => {
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT') {
    process.stderr.write('The output is not complete: its disk is full.\n');
    process.exit(1);
  }
  if (error.code !== 'EPIPE') throw error;
  if (isRunning) process.exit(READER_LEFT);
};
process.stdout.on('error', onBrokenOutput);
process.stderr.on('error', onBrokenOutput);

process.exitCode = await run(process.argv.slice(2));
isRunning = false;

/** Resolves once all earlier output has left this process, or nobody reads it. */
const flushed = (output: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => (output.destroyed ? resolve() : output.write('', () => resolve())));

// A call that the event store never answers would otherwise keep the process, and its caller, waiting.
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
process.exit();
