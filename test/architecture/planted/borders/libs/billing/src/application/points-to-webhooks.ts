// caught by: billing-points-one-way
export const known = (): Promise<unknown> => import('../../../webhooks/src/contracts/commands.js');
