/** A thread that reads a part of the log over a connection of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { withQuarantines } from '@app/event-sourcing/quarantine/with-quarantines.js';
import { openEventStore } from '@app/event-sourcing/store/eventstoredb.js';
import { StorePart } from './log-part.js';
import { sentError, type ThreadAnswer, type ThreadCall, type ThreadData } from './messages.js';

const { store, task, part } = workerData as ThreadData;
const answer = (message: ThreadAnswer): void => parentPort!.postMessage(message);
const ownPart = new StorePart(
  withQuarantines(openEventStore(store)),
  task,
  (report) => answer({ report }),
  part,
);

const run = async ({ method, argument }: ThreadCall): Promise<void> => {
  try {
    answer({ returned: await ownPart[method](argument as never) });
  } catch (error) {
    answer({ thrown: sentError(error) });
  }
};

parentPort!.on('message', (call: ThreadCall) => void run(call));
