// caught by: webhooks-points-one-way
export * from '@app/workspaces/contracts/events.js';
