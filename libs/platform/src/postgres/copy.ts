export { copyIn, copyOut } from '@app/event-sourcing/projections/copy.js';
