import 'reflect-metadata';
import { run } from './run.js';

process.exitCode = await run(process.argv.slice(2));

/** Resolves once all earlier output has left this process. */
const flushed = (output: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => output.write('', () => resolve()));

// A call that the event store never answers would otherwise keep the process, and its caller, waiting.
await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
process.exit();
