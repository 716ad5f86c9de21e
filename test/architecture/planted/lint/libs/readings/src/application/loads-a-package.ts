// caught by: own(no-package-import-call): re-export
export const load = () => import('zod');
