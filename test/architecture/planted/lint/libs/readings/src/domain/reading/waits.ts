// caught by: no-restricted-globals: setTimeout
// caught by: no-restricted-globals: setInterval
// caught by: no-restricted-globals: setImmediate
// caught by: no-restricted-globals: queueMicrotask
// caught by: no-restricted-globals: fetch
setTimeout(() => undefined, 1);
setInterval(() => undefined, 1);
setImmediate(() => undefined);
queueMicrotask(() => undefined);
export const page = fetch('https://example.com');
