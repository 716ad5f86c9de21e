// caught by: module-border
export const known = (): Promise<unknown> => import('../../../readings/src/domain/reading.js');
