/** Whether the file system, or PostgreSQL on it, has no room left. */
export const isDiskFull = (error: unknown): boolean => {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || /No space left on device/i.test(message);
};
