/**
 * Preloaded into one process by a test (`node --import`): its wall clock is as many milliseconds ahead as the file
 * SHIFTED_CLOCK_FILE says, behind when negative. The test may change the file at any time. Monotonic time is untouched,
 * as when someone sets a machine's clock.
 */
import { readFileSync } from 'node:fs';
import { setInterval } from 'node:timers';

const file = process.env['SHIFTED_CLOCK_FILE'];
let shiftMs = 0;
const read = () => {
  shiftMs = Number(readFileSync(file, 'utf8')) || 0;
};

if (file) {
  read();
  setInterval(read, 20).unref();
  const RealDate = globalThis.Date;
  const now = () => RealDate.now() + shiftMs;
  globalThis.Date = new Proxy(RealDate, {
    apply: () => new RealDate(now()).toString(),
    construct: (target, given, created) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, created),
    get: (target, name) => (name === 'now' ? now : target[name]),
  });
}
