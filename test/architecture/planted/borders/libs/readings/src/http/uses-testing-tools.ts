// caught by: code-never-imports-tests
export { requests } from './testing/requests.js';
