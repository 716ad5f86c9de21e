// caught by: code-ships-with-its-packages
export { assert } from 'fast-check';
