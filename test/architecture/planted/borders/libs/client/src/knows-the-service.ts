// caught by: published-package-stands-alone
export { reading } from '../../readings/src/domain/reading.js';
