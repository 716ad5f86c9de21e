import { expect, it } from '@jest/globals';
import { endBeyondHelp } from './end-beyond-help.js';

it('A worker ends when its connection to the event store is beyond help, and not before', async () => {
  const stopping = new AbortController();
  const connection = { beyondHelp: false };
  const working = endBeyondHelp(connection).run(stopping.signal);
  stopping.abort();
  await working;
  connection.beyondHelp = true;
  await expect(endBeyondHelp(connection).run(new AbortController().signal)).rejects.toThrow('beyond help');
});
