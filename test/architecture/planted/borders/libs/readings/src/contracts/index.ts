// caught by: contracts-show-no-inside
export * from './events.js';
export { reading } from '../domain/reading.js';
