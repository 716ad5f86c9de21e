// caught by: eslint(no-restricted-globals): setTimeout
// caught by: eslint(no-restricted-globals): setInterval
// caught by: eslint(no-restricted-globals): setImmediate
// caught by: eslint(no-restricted-globals): queueMicrotask
// caught by: eslint(no-restricted-globals): fetch
setTimeout(() => undefined, 1);
setInterval(() => undefined, 1);
setImmediate(() => undefined);
queueMicrotask(() => undefined);
export const page = fetch('https://example.com');
