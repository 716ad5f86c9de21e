import { setImmediate as turn } from 'node:timers/promises';
import { describeFolder } from '@app/embedded-event-store/operator/info.js';

/** Looks at the store in a folder again and again, as operators’ commands do. Answers a message with the number of looks. */
const [folder = ''] = process.argv.slice(2);
let looks = 0;
let stopped = false;
process.once('message', () => (stopped = true));
for (; !stopped; looks++) {
  await describeFolder(folder);
  // A look of an unserved folder waits for nothing, so messages would not arrive.
  await turn();
}
process.send!(looks, () => process.disconnect());
