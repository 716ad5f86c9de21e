// caught by: no-restricted-syntax: re-export
export const load = () => import('zod');
