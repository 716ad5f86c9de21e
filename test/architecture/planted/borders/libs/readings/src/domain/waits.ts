// caught by: domain-does-no-io
export { setTimeout } from 'node:timers/promises';
