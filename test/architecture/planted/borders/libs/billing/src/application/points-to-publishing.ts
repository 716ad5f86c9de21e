// caught by: billing-points-one-way
export const known = (): Promise<unknown> => import('../../../publishing/src/contracts/events.js');
