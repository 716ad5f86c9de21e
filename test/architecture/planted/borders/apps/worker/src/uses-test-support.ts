// caught by: code-never-imports-tests
export { support } from '../../../test/support.js';
