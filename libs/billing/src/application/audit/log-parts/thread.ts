/** A thread that judges a part of the log. Its events come packed from the thread that reads. */
import { parentPort, workerData } from 'node:worker_threads';
import { OwnPart, type LogPart, type PartTask } from './log-part.js';
import type { ThreadAnswer, ThreadCall } from './messages.js';
import { unpackEvents, type PackedEvents } from './packed-events.js';

const part = new OwnPart(workerData as PartTask);
const answer = (message: ThreadAnswer): void => parentPort!.postMessage(message);

const call = ({ method, argument }: ThreadCall): ReturnType<LogPart[keyof LogPart]> =>
  method === 'take' ? part.take(unpackEvents(argument as PackedEvents)) : part[method](argument as never);

const run = async (given: ThreadCall): Promise<void> => {
  try {
    answer({ returned: await call(given) });
  } catch (error) {
    answer({ thrown: error as Error });
  }
};

parentPort!.on('message', (given: ThreadCall) => void run(given));
