// caught by: imports-resolve
export { nothing } from '@app/readings/domain/nothing.js';
