// caught by: code-never-imports-tests
export { given } from '@app/event-sourcing/testing/given.js';
