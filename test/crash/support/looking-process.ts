import { lookAt } from '#embedded-event-store/log/look-at.js';

/**
 * Looks at the store in a folder again and again, as operators’ commands do. Arguments: folder, seconds, least number of
 * looks. Sends the number of looks at the end.
 */
const [folder = '', seconds, least] = process.argv.slice(2);
const end = Date.now() + Number(seconds) * 1_000;
let looks = 0;
for (; Date.now() < end || looks < Number(least); looks++)
  await lookAt(folder, (store) => store.lastRecord());
process.send!(looks, () => process.disconnect());
