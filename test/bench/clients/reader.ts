/** Reads the whole log over one client: `reader.js CLIENT URL ROUNDS`. Prints the best µs of CPU for an event. */
import { CLIENTS } from '@app/event-sourcing/store/defaults.js';
import { openEventStore } from '@app/event-sourcing/store/eventstoredb.js';

const [name, connectionString = '', rounds = '1'] = process.argv.slice(2);
const client = CLIENTS.find((one) => one === name)!;
const store = await openEventStore({
  client,
  connectionString,
  appendTimeoutMs: 10_000,
  readTimeoutMs: 10_000,
});

/** @returns µs of CPU (user and system) for each event */
const readAll = async (): Promise<number> => {
  const before = process.cpuUsage();
  let events = 0;
  for await (const _ of store.readAll()) events += 1;
  const { user, system } = process.cpuUsage(before);
  return (user + system) / events;
};

await readAll();
let least = Infinity;
for (let round = 0; round < Number(rounds); round += 1) least = Math.min(least, await readAll());
process.stdout.write(`${least}\n`);
await store.close();
process.exit(0);
