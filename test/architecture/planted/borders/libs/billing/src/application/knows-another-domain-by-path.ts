// caught by: module-border
export { reading } from '../../../readings/src/domain/reading.js';
