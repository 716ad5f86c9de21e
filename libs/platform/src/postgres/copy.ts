export { copyIn, copyOut } from '#event-sourcing/projections/copy.js';
