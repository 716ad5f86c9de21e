/**
 * Preloaded into one process by a test (`node --import`): its wall clock is as many milliseconds ahead as the file
 * SHIFTED_CLOCK_FILE says, behind when negative. The test may change the file at any time. Monotonic time is untouched,
 * as when someone sets a machine's clock.
 */
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import { syncBuiltinESMExports } from 'node:module';
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

  // Node's own `date` header does not use the global Date.
  const { createSecureServer } = http2;
  http2.createSecureServer = (...given) =>
    createSecureServer(...given).prependListener('stream', (stream) => {
      const respond = stream.respond.bind(stream);
      stream.respond = (headers, options) =>
        respond({ ...headers, date: new globalThis.Date().toUTCString() }, options);
    });
  syncBuiltinESMExports();
}
