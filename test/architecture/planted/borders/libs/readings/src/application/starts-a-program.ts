// caught by: libs-never-import-apps
export { start } from '../../../../apps/api/src/main.js';
