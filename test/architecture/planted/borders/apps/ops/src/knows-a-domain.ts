// caught by: apps-are-put-together-from-modules
export { reading } from '@app/readings/domain/reading.js';
