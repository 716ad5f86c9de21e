import 'reflect-metadata';
import { run } from './run.js';

process.exitCode = await run(process.argv.slice(2));

/** Resolves once everything written before has left this process. */
const flushed = (output: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => output.write('', () => resolve()));

// A call that the event store never answers would keep the process, and whoever waits for it, for as long.
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
process.exit();
