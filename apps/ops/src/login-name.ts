import { userInfo } from 'node:os';

/**
 * The login name of the person at the keyboard, recorded as the actor `operator:<name>` without OPERATOR_NAME. A container
 * may run under a user id that `/etc/passwd` does not list; its name is then `uid-<id>`.
 */
export const loginName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
};
