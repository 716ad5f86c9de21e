/** Whether a path may require credentials: no route outside `/api/` does. */
export const isGuarded = (path: string): boolean => path.startsWith('/api/');
